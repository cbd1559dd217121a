import { isRecord } from '../src/object/record.ts';
import { parseYaml } from '../src/object/yaml.ts';
import { table } from './docs-markdown.ts';
import type { FoundReason, ReasonUse } from './docs-reason-scan.ts';

const USES: Readonly<Record<ReasonUse, string>> = {
  user: 'error: only an edit helps',
  terminal: 'error: will not work here',
  retry: 'error: may work later',
  condition: 'condition',
  event: 'event',
  watch: 'problem of a watch',
  answer: 'answer of a webhook',
};

const INTRO = `A reason is one word that programs may compare: it is stable, messages are not. Errors of the runtime, of the
lab, of providers and of components carry one, conditions and events of reconciled objects show it, and logs have it as
\`reason\`. Errors that an API server answers with keep the reason of the server, such as \`Conflict\`. What the cloud controller
manager tells about nodes, Services and routes has the reasons of the Go framework, where that has one.`;

/** What people wrote about each reason. Throws when the file holds anything else. */
export function parseReasonTexts(text: string): ReadonlyMap<string, string> {
  const value = parseYaml(text);
  if (!isRecord(value)) throw new Error('reasons.yaml must hold one sentence per reason');
  return new Map(
    Object.entries(value).map(([reason, meaning]) => {
      if (typeof meaning !== 'string') throw new Error(`reasons.yaml: ${reason} must have one sentence`);
      return [reason, meaning];
    }),
  );
}

/** docs/reference/reasons.md: every reason of the sources with what it means. */
export function reasonsPage(found: readonly FoundReason[], texts: ReadonlyMap<string, string>): string {
  const rows = [...Map.groupBy(found, ({ reason }) => reason)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, uses]) => [
      `\`${reason}\``,
      [...new Set(uses.map(({ use }) => USES[use]))].sort().join(', '),
      texts.get(reason) ?? '**not documented**',
    ]);
  return ['# Reasons', INTRO, table(['reason', 'where', 'meaning and way on'], rows)].join('\n\n');
}

/** Where sources and texts differ, in either direction (style S36). */
export function reasonProblems(
  found: readonly FoundReason[],
  texts: ReadonlyMap<string, string>,
): readonly string[] {
  const given = new Set(found.map(({ reason }) => reason));
  return [
    ...found
      .filter(({ reason }) => !texts.has(reason))
      .map(({ reason, path }) => `${reason} (${path}) is not in docs/reference/reasons.yaml`),
    ...[...texts.keys()]
      .filter((reason) => !given.has(reason))
      .map((reason) => `docs/reference/reasons.yaml has ${reason}, which no source gives`),
  ];
}
