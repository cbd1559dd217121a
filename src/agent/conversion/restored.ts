import { getKey, isJsonObject, type Json, type JsonObject, jsonEqual, setKey } from '../../object/json.ts';

/** A value at three times; undefined where it is missing. */
interface Times {
  /** As it was when it was set aside. */
  readonly kept: Json | undefined;
  /** The same after it went to the other version and back: what that version cannot say is gone. */
  readonly returned: Json | undefined;
  /** As it comes out of the other version today. */
  readonly now: Json | undefined;
}

/** The same of a whole body. */
export interface BodyTimes {
  readonly kept: JsonObject;
  readonly returned: JsonObject;
  readonly now: JsonObject;
}

/**
 * The body of now, with what the way through the other version lost put back, as far as it still means the same to that
 * version: some of its fields come from several of ours, of which one may have changed.
 */
export function restoredBody(times: BodyTimes, meansTheSame: (body: JsonObject) => boolean): JsonObject {
  const whole = restored(times);
  if (isJsonObject(whole) && meansTheSame(whole)) return whole;
  let body = times.now;
  for (const half of Object.keys(times.kept)) {
    const [kept, now] = [getKey(times.kept, half), getKey(times.now, half)];
    const returned = getKey(times.returned, half);
    if (!isJsonObject(kept) || !isJsonObject(returned) || !isJsonObject(now)) continue;
    for (const field of Object.keys(kept)) {
      const trial = withField(body, [half, field], restored(membersAt({ kept, returned, now }, field)));
      if (meansTheSame(trial)) body = trial;
    }
  }
  return body;
}

const membersAt = ({ kept, returned, now }: BodyTimes, key: string): Times => ({
  kept: getKey(kept, key),
  returned: getKey(returned, key),
  now: getKey(now, key),
});

function withField(
  body: JsonObject,
  [half, field]: readonly [string, string],
  value: Json | undefined,
): JsonObject {
  const part = getKey(body, half);
  if (!isJsonObject(part) || value === undefined) return body;
  return { ...body, [half]: { ...part, [field]: value } };
}

/**
 * What is now, with what the way through the other version lost put back. A part that changed since it was set aside is
 * as it is now: what is kept never wins over what is newer (X8).
 */
function restored({ kept, returned, now }: Times): Json | undefined {
  if (jsonEqual(now, returned)) return kept;
  if (isJsonObject(kept) && isJsonObject(returned) && isObjectOrMissing(now))
    return restoredMembers(kept, returned, now);
  if (isConditions(kept) && isConditions(returned) && isConditions(now))
    return restoredConditions(kept, returned, now);
  return now;
}

const isObjectOrMissing = (value: Json | undefined): value is JsonObject | undefined =>
  value === undefined || isJsonObject(value);

/** Of a reference: they are of one object, and of no other that is referred to later. */
const OF_ONE_OBJECT: readonly string[] = ['uid', 'resourceVersion', 'fieldPath'];

function restoredMembers(
  kept: JsonObject,
  returned: JsonObject,
  now: JsonObject | undefined,
): JsonObject | undefined {
  const result: JsonObject = {};
  const isOther = !jsonEqual(getKey(now ?? {}, 'name'), getKey(returned, 'name'));
  const old = Object.keys(kept).filter((key) => !isOther || !OF_ONE_OBJECT.includes(key));
  for (const key of new Set([...Object.keys(now ?? {}), ...old])) {
    const member = restored(membersAt({ kept, returned, now: now ?? {} }, key));
    if (member !== undefined) setKey(result, key, member);
  }
  return now === undefined && Object.keys(result).length === 0 ? undefined : result;
}

type Conditions = readonly (JsonObject & { readonly type: string })[];

const isConditions = (value: Json | undefined): value is Json[] & Conditions =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((item) => isJsonObject(item) && typeof item['type'] === 'string');

/** A condition is restored as a whole or not at all: the severity of an older one says nothing about a newer one. */
const restoredConditions = (kept: Conditions, returned: Conditions, now: Conditions): Json =>
  now.map((condition) => {
    const { type } = condition;
    const before = kept.find((item) => item.type === type);
    const isSame = jsonEqual(
      condition,
      returned.find((item) => item.type === type),
    );
    return isSame && before !== undefined ? before : condition;
  });
