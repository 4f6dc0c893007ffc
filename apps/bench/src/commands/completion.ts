import { Argument, type Command } from "commander";
import { commandTable } from "../completion/command-table.js";
import { completionScript, type Shell, shells } from "../completion/shells.js";
import { exitCodesText } from "../terminal/exit-codes.js";

export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .summary("a script that completes commands and options in your shell")
    .description("Prints a script that completes the commands and options of dfccl when Tab is pressed.")
    .addArgument(new Argument("<shell>", "yours").choices(shells))
    .addHelpText(
      "after",
      `
Examples:
  In ~/.bashrc or ~/.zshrc:
    $ eval "$(dfccl completion bash)"
  In fish:
    $ dfccl completion fish > ~/.config/fish/completions/dfccl.fish

${exitCodesText({ 0: "printed", 1: "failed", 2: "usage" })}`,
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, commandTable(program)));
    });
}
