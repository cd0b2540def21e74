import type { Command } from 'commander';
import { EXIT } from './exits.js';
import { Failure } from './failures.js';
import { ending } from './options.js';
import { print } from './output.js';
import { sessionOf, signal } from './session.js';

// each script asks the program itself what may follow, so that it never falls behind
const SCRIPTS: Record<string, string> = {
  bash: `# bash completion of zoneward: source <(zoneward completion bash)
_zoneward() {
  local IFS=$'\\n'
  COMPREPLY=($(zoneward complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _zoneward zoneward
`,
  zsh: `#compdef zoneward
# zsh completion of zoneward: source <(zoneward completion zsh)
_zoneward() {
  local -a found
  found=("\${(@f)$(zoneward complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found ]]; then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _zoneward ]]; then _zoneward "$@"; else compdef _zoneward zoneward; fi
`,
  fish: `# fish completion of zoneward: zoneward completion fish | source
complete -c zoneward -a '(zoneward complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** ms that a completion may take. */
const QUICK = 2000;

async function zoneNames(command: Command): Promise<string[]> {
  try {
    const { zoneward } = sessionOf(command);
    const quick = AbortSignal.any([signal, AbortSignal.timeout(QUICK)]);
    return (await zoneward.get('/api/domains', { query: { page: 1, limit: 500 }, signal: quick })).map(
      ({ name }) => name,
    );
  } catch {
    // who is not signed in gets no names, and no words about it either
    return [];
  }
}

/** The words that may follow. @param words the last one is being typed */
async function following(program: Command, words: string[], command: Command): Promise<string[]> {
  const typed = words.at(-1) ?? '';
  let at = program;
  let places = 0;
  for (const word of words.slice(0, -1)) {
    const inner = at.commands.find((one) => one.name() === word);
    if (inner) at = inner;
    else if (!word.startsWith('-')) places += 1;
  }
  const options = [...at.options, ...program.options].map(({ long }) => long as string);
  if (typed.startsWith('-')) return options;
  if (at.commands.length) return at.commands.map((one) => one.name()).filter((name) => name !== 'complete');
  return at.registeredArguments[places]?.name() === 'zone' ? zoneNames(command) : [];
}

export function completionCommands(program: Command): void {
  program
    .command('completion <shell>')
    .description('what a shell (bash, zsh, fish) needs to complete commands')
    .action(
      ending(async (shell: string) => {
        const script = SCRIPTS[shell];
        if (!script) throw new Failure(`there is a completion for ${Object.keys(SCRIPTS).join(', ')}`);
        print(script);
        return EXIT.done;
      }),
    );
  program.command('complete [words...]', { hidden: true }).action(
    ending(async (words: string[], _: object, command: Command) => {
      const typed = words.at(-1) ?? '';
      const found = (await following(program, words, command)).filter((word) => word.startsWith(typed));
      if (found.length) print(found.join('\n'));
      return EXIT.done;
    }),
  );
}
