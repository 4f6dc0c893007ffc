import type { CommandEntry, OptionEntry } from "./command-table.js";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** A script that completes the command in a shell, for `eval` or a file of its own. */
export function completionScript(shell: Shell, table: readonly CommandEntry[]): string {
  return { bash, zsh, fish }[shell](table);
}

/** In single quotes, for all three. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const pathOf = ({ path }: CommandEntry): string => path.join(" ");
const namesOf = (options: readonly OptionEntry[]): string[] => options.flatMap(({ names }) => names);
const withValue = ({ options }: CommandEntry): OptionEntry[] => options.filter(({ takesValue }) => takesValue);

/** What is common to bash and zsh: which command the words lead to, and what may follow. */
function cases(table: readonly CommandEntry[], line: (entry: CommandEntry) => string): string {
  return table.map((entry) => `    ${quote(pathOf(entry))}) ${line(entry)} ;;`).join("\n");
}

/** Lists that are typed behind an option; "" where files are. */
function valueCases(table: readonly CommandEntry[]): string {
  return table
    .flatMap((entry) =>
      withValue(entry).map(({ names, values }) => {
        const patterns = names.map((name) => quote(`${pathOf(entry)} ${name}`)).join("|");
        return `    ${patterns}) values=${quote(values.join(" "))}; return 0 ;;`;
      }),
    )
    .join("\n");
}

const commonFunctions = (table: readonly CommandEntry[]): string => `# Which command the words lead to: "" or "bench loader".
_dfccl_path() {
  command_path=''
  local word
  for word in "$@"; do
    case "$command_path" in
${cases(table, ({ commands, path }) =>
  commands.length === 0
    ? "return"
    : `case "$word" in ${commands.join("|")}) command_path=${path.length === 0 ? '"$word"' : '"$command_path $word"'} ;; esac`,
)}
    esac
  done
}
# What may follow an option: a list, or files where that is empty. Fails for what takes no value.
_dfccl_values() {
  values=''
  case "$command_path $1" in
${valueCases(table)}
  esac
  return 1
}
_dfccl_words() {
  case "$command_path" in
${cases(table, ({ commands, options, values }) => `words=${quote([...commands, ...values, ...namesOf(options)].join(" "))}`)}
  esac
}
`;

function bash(table: readonly CommandEntry[]): string {
  return `# Completion of dfccl in bash. To have it: eval "$(dfccl completion bash)"
${commonFunctions(table)}_dfccl() {
  local command_path values words current=\${COMP_WORDS[COMP_CWORD]}
  _dfccl_path "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  if _dfccl_values "\${COMP_WORDS[COMP_CWORD-1]}"; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  else
    _dfccl_words
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -o default -F _dfccl dfccl
`;
}

function zsh(table: readonly CommandEntry[]): string {
  return `#compdef dfccl
# Completion of dfccl in zsh. To have it: eval "$(dfccl completion zsh)", after compinit
${commonFunctions(table)}_dfccl() {
  local command_path values
  local current=\${words[CURRENT]} previous=\${words[CURRENT-1]}
  _dfccl_path "\${(@)words[2,CURRENT-1]}"
  if _dfccl_values "$previous"; then
    if [[ -n "$values" ]]; then compadd -- \${=values}; else _files; fi
    return
  fi
  local words
  _dfccl_words
  compadd -- \${=words}
  [[ "$current" == -* ]] || _files
}
compdef _dfccl dfccl
`;
}

function fish(table: readonly CommandEntry[]): string {
  const condition = (entry: CommandEntry): string => `-n ${quote(`__dfccl_at ${quote(pathOf(entry)).replaceAll("'", '"')}`)}`;
  const lines = table.flatMap((entry) => [
    ...entry.commands.map((name) => {
      const below = table.find(({ path }) => path.join(" ") === [...entry.path, name].join(" "));
      return `complete -c dfccl ${condition(entry)} -f -a ${name} -d ${quote(below?.summary ?? "")}`;
    }),
    ...(entry.values.length > 0 ? [`complete -c dfccl ${condition(entry)} -f -a ${quote(entry.values.join(" "))}`] : []),
    ...entry.options.map((option) => {
      const names = option.names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
      const value = option.takesValue ? (option.values.length > 0 ? ` -x -a ${quote(option.values.join(" "))}` : " -r") : "";
      return `complete -c dfccl ${condition(entry)} ${names}${value} -d ${quote(option.summary)}`;
    }),
  ]);
  const branches = table
    .filter(({ commands }) => commands.length > 0)
    .map(
      ({ path, commands }) =>
        `            case ${quote(path.join(" "))}\n                contains -- $word ${commands.join(" ")}; and set at (string trim -- "$at $word")`,
    );
  return `# Completion of dfccl in fish. To have it: dfccl completion fish | source
function __dfccl_at
    set -l at ''
    for word in (commandline -opc)[2..]
        switch $at
${branches.join("\n")}
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
}
