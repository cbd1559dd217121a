import { z } from 'zod';
import { terminalError } from '../../../base/errors.ts';
import type { DefinedKind, ResourceAction, ResourceKind, Transaction } from './resource-kind.ts';
import type { KindName, RecordChange, ResourceRecord } from './resource-record.ts';
import { tagsSchema } from './tags.ts';

const LONGEST_NAME = 128;
const usualName = z
  .string()
  .min(1, 'must not be empty')
  .max(LONGEST_NAME, `has at most ${LONGEST_NAME} characters`)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');

/** A kind without its name, which comes first so that everything else is checked against its fields. */
type KindParts<Input extends z.ZodRawShape, Changes extends z.ZodRawShape, Fields extends object> = Omit<
  ResourceKind<Input, Changes, Fields>,
  keyof KindName<Fields>
>;

/** The kind as the core uses it. Throws when the declaration contradicts itself: that is a mistake in the program. */
export function defineKind<
  Fields extends object,
  Input extends z.ZodRawShape = Record<string, never>,
  Changes extends z.ZodRawShape = Record<string, never>,
>({ plural }: KindName<Fields>, kind: KindParts<Input, Changes, NoInfer<Fields>>): DefinedKind {
  const { states, transitions = {}, deletion, input, changes } = kind;
  requireStates(plural, states, [...Object.keys(transitions), ...(deletion?.during ?? []), deletion?.rest?.state]);
  const named = { name: kind.name?.schema ?? usualName };
  const tags = tagsSchema.optional();
  const renamed = kind.name?.isFixed === true ? {} : named;
  return {
    ...kind,
    plural,
    createSchema: input === undefined ? undefined : z.strictObject({ ...named, ...input, tags }),
    changeSchema: changes === undefined ? undefined : z.strictObject({ ...renamed, ...changes, tags }),
  };
}

function requireStates(plural: string, states: readonly string[], used: readonly (string | undefined)[]): void {
  const stranger = used.find((state) => state !== undefined && !states.includes(state));
  if (stranger === undefined) return;
  throw terminalError('KindDefinition', `${plural}: ${stranger} is not one of ${states.join(', ')}`);
}

/** An action whose input is checked against `input` before it runs. */
export function defineAction<Input extends z.ZodRawShape, Fields extends object>(
  input: Input,
  run: (
    record: ResourceRecord<Fields>,
    input: z.output<z.ZodObject<Input>>,
    transaction: Transaction,
  ) => RecordChange<Fields> | undefined,
): ResourceAction<Fields> {
  const own = z.object(input);
  return {
    schema: z.strictObject({ ...input, action: z.string() }),
    run: (record, given, transaction) => run(record, own.parse(given), transaction),
  };
}
