import { CONVERSION_DATA_ANNOTATION } from '../../api/cluster-api/core-v1beta2.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../../api/object.ts';
import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { parseJson, stringifyJson } from '../../object/json-text.ts';
import { type BodyTimes, restoredBody } from './restored.ts';

/** On objects of an older version: what the stored version has and the older one cannot say (X8). */
export const HUB_DATA_ANNOTATION = 'conversion.slipway.dev/hub-data';

/** An object without its identity: `spec`, `status`, and whatever else it holds. */
export type Body<T extends KubeObject> = Partial<Omit<T, keyof KubeObject>>;

/** How bodies of two versions become one another; each way may lose what the other version cannot say. */
export interface Ways<Hub extends KubeObject, Spoke extends KubeObject> {
  readonly toHub: (spoke: Body<Spoke>) => Body<Hub>;
  readonly toSpoke: (hub: Body<Hub>) => Body<Spoke>;
}

/** Conversion of a kind both ways that loses nothing. */
export interface LosslessConversion<Hub extends KubeObject, Spoke extends KubeObject> {
  readonly toHub: (spoke: Spoke) => Hub;
  readonly toSpoke: (hub: Hub) => Spoke;
}

/**
 * The older version is kept in an annotation of the hub, as upstream does and reads it (V3); the hub is kept in an
 * annotation of the older version where that cannot say all of it (X8). Each is used only where nothing is newer.
 */
export function lossless<Hub extends KubeObject, Spoke extends KubeObject>(
  hubKind: Kind<Hub>,
  spokeKind: Kind<Spoke>,
  ways: Ways<Hub, Spoke>,
): LosslessConversion<Hub, Spoke> {
  return {
    toHub(spoke) {
      const body = bodyOf(spoke);
      const kept = keptBody(spoke.metadata, HUB_DATA_ANNOTATION, hubKind);
      const hub = again<Body<Hub>, Body<Spoke>>(kept, ways.toHub(body), ways.toSpoke, ways.toHub);
      const annotation = { [CONVERSION_DATA_ANNOTATION]: dataOf(spokeKind, body) };
      return whole(hubKind, annotated(spoke.metadata, annotation), hub);
    },
    toSpoke(hub) {
      const body = bodyOf(hub);
      const kept = keptBody(hub.metadata, CONVERSION_DATA_ANNOTATION, spokeKind);
      const spoke = again<Body<Spoke>, Body<Hub>>(kept, ways.toSpoke(body), ways.toHub, ways.toSpoke);
      const isSaid = jsonEqual(ways.toHub(spoke) as Json, body as Json);
      const annotation = isSaid ? {} : { [HUB_DATA_ANNOTATION]: dataOf(hubKind, body) };
      return whole(spokeKind, annotated(hub.metadata, annotation), spoke);
    },
  };
}

/**
 * With what was kept. What cannot be converted is nothing that a conversion of ours wrote, and must not keep anybody
 * from reading the object; whoever breaks it by hand, and loses something by that, is told by the webhooks.
 */
function again<T, Other>(kept: T | undefined, now: T, there: (body: T) => Other, back: (body: Other) => T): T {
  if (kept === undefined) return now;
  try {
    // Bodies are JSON objects.
    const times = { kept, returned: back(there(kept)), now } as unknown as BodyTimes;
    const meaning = there(now) as Json;
    const isSame = (body: T): boolean => {
      const other = there(body);
      return jsonEqual(other as Json, meaning) || jsonEqual(back(other) as Json, now as Json);
    };
    return restoredBody(times, (body) => isSame(body as T)) as T;
  } catch {
    return now;
  }
}

/** Undefined when there is none, or nothing that can be read as one of this kind. */
function keptBody<T extends KubeObject>(
  { annotations = {} }: KubeObject['metadata'],
  key: string,
  kind: Kind<T>,
): Body<T> | undefined {
  const { apiVersion, kind: name, ...body } = jsonOf(annotations[key] ?? '{}');
  return apiVersion === apiVersionOf(kind) && name === kind.kind ? (body as Body<T>) : undefined;
}

function jsonOf(text: string): JsonObject {
  try {
    const { value } = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The same object gives the same text, so that writing it again changes nothing. */
const dataOf = (kind: Kind, body: object): string =>
  stringifyJson(sorted({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...body } as JsonObject));

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

/** Without the annotations of conversions but the one given. */
function annotated(
  { annotations, ...metadata }: KubeObject['metadata'],
  added: Readonly<Record<string, string>>,
): KubeObject['metadata'] {
  const { [CONVERSION_DATA_ANNOTATION]: _spoke, [HUB_DATA_ANNOTATION]: _hub, ...others } = annotations ?? {};
  const all = { ...others, ...added };
  return Object.keys(all).length === 0 && annotations === undefined ? metadata : { ...metadata, annotations: all };
}

function bodyOf<T extends KubeObject>(object: T): Body<T> {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...body } = object;
  return body as Body<T>;
}

const whole = <T extends KubeObject>(kind: Kind<T>, metadata: KubeObject['metadata'], body: Body<T>): T =>
  // The ways make bodies of the kind.
  ({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...body }) as unknown as T;
