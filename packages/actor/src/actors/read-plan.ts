import { checkFunction, checkInteger, checkText, type OptionNames } from "@dfccl/primitives";
import { readFields, readList, readWholeNumbers } from "../read-fields.js";
import type { ActorPlan, Rhythm, TaskSpec } from "./plan.js";
import type { RegisterSpec } from "./register-spec.js";
import { checkTaskId } from "./task-id.js";

const taskFields: OptionNames<TaskSpec> = {
  ...{ id: true, name: true, consumes: true, produces: true, kernel: true },
  ...{ rhythm: true, records: true, isAsynchronous: true },
};
const registerFields: OptionNames<RegisterSpec> = {
  id: true,
  producer: true,
  consumers: true,
  count: true,
  elements: true,
  inPlaceOf: true,
};
const rhythmFields: OptionNames<Rhythm> = { actsPerInput: true, actsPerOutput: true };
const ids = "a list of registers' ids";

/** A plan as it is now, whose parts are of the right types. @throws {InvalidArgumentError} */
export function readPlan(plan: ActorPlan): ActorPlan {
  const expected = "what compileGraph() returns as its plan, or one like it";
  const { tasks, registers } = readFields("plan", plan, { tasks: true, registers: true }, expected);
  return {
    tasks: readList("plan.tasks", tasks, "a list of tasks").map((task, index) => readTask(`plan.tasks[${index}]`, task)),
    registers: readList("plan.registers", registers, "a list of registers").map((register, index) =>
      readRegister(`plan.registers[${index}]`, register),
    ),
  };
}

function readTask(argument: string, given: TaskSpec): TaskSpec {
  const task = readFields(argument, given, taskFields, "a task: { id, name, consumes, produces, kernel }");
  checkTaskId(`${argument}.id`, task.id);
  checkText(`${argument}.name`, task.name, "a name");
  const consumes = readWholeNumbers(`${argument}.consumes`, task.consumes, ids);
  const produces = readWholeNumbers(`${argument}.produces`, task.produces, ids);
  checkFunction(`${argument}.kernel`, task.kernel, "a function of an act and done");
  if (task.rhythm === undefined) return { ...task, consumes, produces };
  const rhythm = readFields(`${argument}.rhythm`, task.rhythm, rhythmFields, "an object such as { actsPerOutput: 2 }");
  return { ...task, consumes, produces, rhythm };
}

function readRegister(argument: string, given: RegisterSpec): RegisterSpec {
  const register = readFields(argument, given, registerFields, "a register: { id, producer, consumers }");
  checkInteger(`${argument}.id`, register.id, 0);
  checkTaskId(`${argument}.producer`, register.producer);
  const consumers = readList(`${argument}.consumers`, register.consumers, "a list of tasks' ids");
  consumers.forEach((consumer, index) => void checkTaskId(`${argument}.consumers[${index}]`, consumer));
  if (register.elements !== undefined) checkInteger(`${argument}.elements`, register.elements, 0);
  if (register.inPlaceOf !== undefined) checkInteger(`${argument}.inPlaceOf`, register.inPlaceOf, 0);
  return { ...register, consumers };
}
