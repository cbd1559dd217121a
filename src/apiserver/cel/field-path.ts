import type { Schema } from '../../object/schema.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

/**
 * The field that a rule's fieldPath names, as error messages print it: `.a.b` or `.a['key']`. `undefined` when the
 * schema has no such field.
 */
export function fieldPathOf(fieldPath: string, schema: Schema): string | undefined {
  let current: Schema | undefined = schema;
  let rest = fieldPath;
  let path = '';
  while (rest !== '') {
    const step = nextStep(rest);
    if (step === undefined || current === undefined) return undefined;
    const child: Child | undefined = childOf(current, step.name);
    if (child === undefined) return undefined;
    path = child.isKey ? `${path}[${step.name}]` : `${path}${path === '' ? '' : '.'}${step.name}`;
    current = child.schema;
    rest = rest.slice(step.length);
  }
  return path;
}

function nextStep(text: string): { readonly name: string; readonly length: number } | undefined {
  const plain = /^\.([^.[\]']+)/.exec(text);
  if (plain?.[1] !== undefined) return { name: plain[1], length: plain[0].length };
  const quoted = /^\['((?:[^'\\]|\\.)*)'\]/s.exec(text);
  if (quoted?.[1] === undefined) return undefined;
  const name = quoted[1].replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? '\0');
  return name.includes('\0') ? undefined : { name, length: quoted[0].length };
}

interface Child {
  readonly schema: Schema | undefined;
  readonly isKey: boolean;
}

function childOf({ properties, additionalProperties }: Schema, name: string): Child | undefined {
  if (properties !== undefined) {
    return Object.hasOwn(properties, name) ? { schema: properties[name], isKey: false } : undefined;
  }
  if (additionalProperties === undefined) return undefined;
  return { schema: typeof additionalProperties === 'object' ? additionalProperties : undefined, isKey: true };
}
