import { goDuration } from '../src/base/duration.ts';
import type { ElectionTiming } from '../src/kube/election/election-timing.ts';
import type { ExitCode } from '../src/kube/manager/exit-code.ts';
import { environmentName, type Flag } from '../src/kube/manager/flag-parser.ts';
import { table } from './docs-markdown.ts';

/** The type makes a new exit code without a sentence here fail the build. */
const EXIT_CODES: Readonly<Record<ExitCode, string>> = {
  0: 'stopped by a signal, everything ended in order',
  1: 'a part failed, leadership was lost, a permission is missing, or a second signal came',
  2: 'a flag, a variable or a kubeconfig that does not fit; nothing was started',
  3: 'the server was not reached, or a kind that it serves not read, in time; for a kind that is not installed the program waits',
};

const INTRO = `Every program that is started with \`runProgram\` of \`slipway/kube\` takes these flags. They have the names and the
syntax that programs in Go have: one or two dashes, \`--name=value\` or \`--name value\`, a switch without a value. Each can
be set in the environment too; a flag wins. All problems are printed at once, with exit code 2.

\`PROGRAM manifests --image IMAGE\` prints what installs the program instead of running it: namespace, definitions of its
kinds, service account, roles and Deployment. \`--namespace\` says where; without it, in a namespace with the name of the
program.`;

interface ProgramFlags {
  readonly flags: readonly Flag[];
  readonly profiles: Readonly<Record<string, ElectionTiming>>;
}

/** docs/reference/program-flags.md: what programs with controllers take, from the table they are parsed with. */
export function programFlagsPage({ flags, profiles }: ProgramFlags): string {
  return [
    '# Flags of programs with controllers',
    INTRO,
    table(['flag', 'type', 'default', 'environment', 'description'], flags.map(flagRow)),
    '## Profiles of the leader election',
    'A candidate takes over when the Lease was not renewed for the lease duration. A leader that cannot renew it gives up ' +
      'after the renew deadline, which is earlier.',
    table(
      ['`--leader-profile`', 'lease duration', 'renew deadline', 'retry period'],
      Object.entries(profiles).map(([name, { leaseMs, renewMs, retryMs }]) => [
        `\`${name}\``,
        ...[leaseMs, renewMs, retryMs].map((ms) => `\`${goDuration(ms)}\``),
      ]),
    ),
    '## Exit codes',
    table(
      ['code', 'meaning'],
      Object.entries(EXIT_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
  ].join('\n\n');
}

function flagRow(flag: Flag): readonly string[] {
  const { name, aliases = [], type, choices = [], range, default: standard, description } = flag;
  const allowed = type === 'choice' ? choices.map((choice) => `\`${choice}\``).join(', ') : type;
  return [
    [name, ...aliases].map((word) => `\`--${word}\``).join(', '),
    range === undefined ? allowed : `${allowed}, ${range[0]} to ${range[1]}`,
    standard === '' ? '–' : `\`${standard}\``,
    `\`${environmentName(flag)}\``,
    description.replace(LITERAL, '`$&`'),
  ];
}

/** Flags, variables, paths and files in a description: as code, as everywhere else in the docs. */
const LITERAL = /--[a-z][a-z-]*(?:=\w+)?|\bKUBECONFIG\b|~\/\.kube\/config|\/(?:healthz|readyz)|tls\.(?:crt|key)/g;
