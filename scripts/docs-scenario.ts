import { z } from 'zod';
import type { SCENARIO_PARTS } from '../src/lab/setup/scenario.ts';
import { type Field, valueText } from '../src/lab/setup/scenario-values.ts';
import { table } from './docs-markdown.ts';

interface Part {
  readonly properties: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

const INTRO = `What a scenario for \`slipway up --scenario FILE\` may hold. \`startLab\` of \`slipway/testing\` takes the same options in
TypeScript, where the clock is \`{ scaled: N }\`. The file is checked before anything is started; every problem is named with its
line. Words of \`argv\` and \`programs\` that begin with \`./\` or \`../\`, \`workdir\` and \`kubeconfig\` are paths from the folder of
the file.`;

const TITLES: Readonly<Record<keyof typeof SCENARIO_PARTS, string>> = {
  scenario: 'The file',
  clusters: 'One of `clusters`',
  cloud: 'The `cloud`',
  metal: 'The `metal`',
  images: 'One of `images`',
};

/** docs/reference/scenario.md: every word that a scenario may hold. */
export function scenarioPage(parts: typeof SCENARIO_PARTS): string {
  const names = ['scenario', 'clusters', 'cloud', 'metal', 'images'] as const;
  return [
    '# Scenarios',
    INTRO,
    ...names.flatMap((name) => [`## ${TITLES[name]}`, partTable(jsonSchema(parts[name]))]),
  ].join('\n\n');
}

/** The library gives what we gave it, in the form that is the same for everybody. */
const jsonSchema = (schema: z.ZodType): Part => z.toJSONSchema(schema, { io: 'input' }) as unknown as Part;

const partTable = ({ properties, required = [] }: Part): string =>
  table(
    ['name', 'value', 'meaning'],
    Object.entries(properties).map(([name, field]) => [
      `\`${name}\`${required.includes(name) ? ' (required)' : ''}`,
      valueText(field),
      field.description ?? '',
    ]),
  );
