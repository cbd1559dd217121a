import type { Flag } from '../src/kube/manager/flag-parser.ts';
import { table } from './docs-markdown.ts';

const INTRO = `\`slipway run cloud-controller-manager\` takes the flags of the upstream program, with the same names, the same syntax and
the same meaning: \`--name=value\` or \`--name value\`, a switch without a value, \`--some_flag\` for \`--some-flag\`. All problems
are printed at once, with exit code 2, and nothing is started. The environment is not asked.

Four defaults differ. \`--kube-api-qps\` and \`--kube-api-burst\` are 0, no limit on our side, instead of 20 and 30: the
priority and fairness of the API server does better. \`--concurrent-node-syncs\` is 100 and
\`--concurrent-service-syncs\` 30, instead of 1. A value that is given means what it means upstream.

A call of the provider may take 30 s (\`--provider-call-timeout\`): longer than any healthy answer of a cloud, shorter than
what an operator waits for before looking. A call that changes something is repeated with the same token, so that giving
up early makes nothing twice.

The exit code is 0 after a signal, 1 when a part failed or the leadership was lost, 2 for wrong flags, an unknown provider
or a configuration that does not fit, 3 when the objects of the cluster could not be read in time.`;

/** docs/reference/cloud-controller-manager-flags.md, from the table that the flags are parsed with. */
export function cloudFlagsPage(
  sections: readonly { readonly title: string; readonly flags: readonly Flag[] }[],
): string {
  return [
    '# Flags of the cloud controller manager',
    INTRO,
    ...sections.flatMap(({ title, flags }) => [`## ${title}`, flagTable(flags)]),
  ].join('\n\n');
}

/** A row for each flag. */
export const flagTable = (flags: readonly Flag[]): string =>
  table(['flag', 'type', 'default', 'description'], flags.map(row));

function row({ name, type, choices = [], default: standard, description }: Flag): readonly string[] {
  const allowed = choices.filter((choice) => choice !== '').map((choice) => `\`${choice}\``);
  return [
    `\`--${name}\``,
    type === 'choice' ? allowed.join(', ') : type,
    standard === '' ? '–' : `\`${standard}\``,
    description.replace(LITERAL, '`$&`'),
  ];
}

/** Flags, variables and paths in a description: as code, as everywhere else in the docs. */
const LITERAL = /--[a-z][a-z-]*|\bKUBE[A-Z_]+\b|~\/\.kube\/config|\/(?:healthz|debug\/pprof\/)/g;
