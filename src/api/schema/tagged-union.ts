import * as z from 'zod';
import { HELPER } from './expressible.ts';
import type { ValidationRule } from './structural.ts';

type Branches = Readonly<Record<string, z.ZodType>>;
type Side = 'input' | 'output';
type ValueOf<Type extends z.ZodType, S extends Side> = S extends 'input' ? z.input<Type> : z.output<Type>;

/** One of the branches: the key names it, the field of the same name holds it. */
export type TaggedUnion<Key extends string, Of extends Branches, S extends Side = 'output'> = {
  [Name in keyof Of & string]: { [Tag in Key]: Name } & { [Field in Name]: ValueOf<Of[Name], S> };
}[keyof Of & string];

/** Words that a rule cannot use as the name of a field. */
const RESERVED = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
);
const ESCAPES: readonly (readonly [RegExp, string])[] = [
  [/__/g, '__underscores__'],
  [/\./g, '__dot__'],
  [/-/g, '__dash__'],
  [/\//g, '__slash__'],
];

/** The name of a field as a CEL rule spells it. */
export const celName = (field: string): string =>
  RESERVED.has(field)
    ? `__${field}__`
    : ESCAPES.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), field);

/**
 * A discriminated union that a structural schema can say (K4): `taggedUnion('type', { file: …, url: … })` is
 * `{ type: 'file', file: … }` or `{ type: 'url', url: … }`. In the definition every branch is optional, and a rule for each
 * says that it is there exactly when the key names it.
 */
export function taggedUnion<Key extends string, Of extends Branches>(
  key: Key,
  branches: Of,
): z.ZodType<TaggedUnion<Key, Of>, TaggedUnion<Key, Of, 'input'>> {
  const names = Object.keys(branches);
  if (Object.hasOwn(branches, key)) throw new TypeError(`taggedUnion: the branch ${key} has the name of the key`);
  const shape = { [key]: z.enum(names), ...mapValues(branches, (branch) => branch.optional()) };
  const rules = names.map((name) => ruleFor(key, name));
  const union = z
    .object(shape)
    .superRefine((value: Readonly<Record<string, unknown>>, context) => {
      for (const name of names) {
        if ((value[name] !== undefined) === (value[key] === name)) continue;
        context.addIssue({ code: 'custom', path: [name], message: messageFor(key, name) });
      }
    })
    .meta({ 'x-kubernetes-validations': rules, [HELPER]: true });
  // The check above is what makes it one of the branches.
  return union as z.ZodType<unknown> as z.ZodType<TaggedUnion<Key, Of>, TaggedUnion<Key, Of, 'input'>>;
}

const messageFor = (key: string, name: string): string =>
  `${name} is required when ${key} is ${name}, and forbidden otherwise`;

const ruleFor = (key: string, name: string): ValidationRule => ({
  rule: `(self.${celName(key)} == '${name}') == has(self.${celName(name)})`,
  message: messageFor(key, name),
});

const mapValues = (branches: Branches, map: (branch: z.ZodType) => z.ZodType): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(branches).map(([name, branch]) => [name, map(branch)]));
