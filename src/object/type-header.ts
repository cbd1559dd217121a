import { isJsonObject, type Json } from './json.ts';
import { goKind } from './validation/go-text.ts';

/** What stands before every reason why it cannot be told what an object is. */
export const UNREADABLE_TYPE = "couldn't get version/kind; json parse error: ";

const STRUCT =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Why apiVersion and kind cannot be read: Go looks at these two before anything else. */
export function typeHeaderProblem(value: Json): string | undefined {
  const refuse = (found: unknown, target: string) =>
    `${UNREADABLE_TYPE}json: cannot unmarshal ${goKind(found)} into ${target}`;
  if (!isJsonObject(value)) return refuse(value, `Go value of type ${STRUCT}`);
  for (const key of Object.keys(value)) {
    if (key !== 'apiVersion' && key !== 'kind') continue;
    if (typeof (value[key] ?? '') !== 'string')
      return refuse(value[key], `Go struct field .${key} of type string`);
  }
  return undefined;
}
