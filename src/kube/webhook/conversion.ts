import type { JsonObject } from '../../api/json.ts';
import { apiVersionOf, type Kind, type KubeObject, type Mutable } from '../../api/object.ts';
import { messageOf, SlipwayError, userError } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import { cloneJson, getKey, isJsonObject, type Json } from '../../object/json.ts';
import { type AnswerServices, inTime } from './admission-answer.ts';
import { objectAt, readReview, textAt } from './admission-request.ts';

/** A version that is converted through the hub. Both ways must lose nothing, or clients of one version lose data. */
export interface Spoke<Hub extends KubeObject = KubeObject, T extends KubeObject = KubeObject> {
  readonly kind: Kind<T, unknown>;
  /** May write to what it gets. Metadata other than labels and annotations is kept, whatever is returned (W5). */
  convertTo(spoke: Mutable<T>): Promise<Hub> | Hub | Promise<Mutable<Hub>> | Mutable<Hub>;
  convertFrom(hub: Mutable<Hub>): Promise<T> | T | Promise<Mutable<T>> | Mutable<T>;
}

/** A spoke with the types of both sides known to the compiler. */
export const spoke = <Hub extends KubeObject, T extends KubeObject>(
  _hub: Kind<Hub, unknown>,
  kind: Kind<T, unknown>,
  ways: Omit<Spoke<Hub, T>, 'kind'>,
): Spoke<Hub, T> => ({ kind, ...ways });

type Convert = (object: JsonObject) => Promise<JsonObject>;
const SAME: Convert = (object) => Promise.resolve(object);

/** How the versions of one kind become one another. */
interface Conversion {
  readonly group: string;
  readonly kind: string;
  readonly hub: string;
  readonly toHub: ReadonlyMap<string, Convert>;
  readonly fromHub: ReadonlyMap<string, Convert>;
}

const CONVERSION_VERSIONS: readonly string[] = ['apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1'];

/** The versions of all kinds that this process converts. */
export class Conversions {
  readonly #byKind = new Map<string, Conversion>();

  /** Throws a userError when the kind is there already, when a version comes twice or belongs to another kind. */
  add<Hub extends KubeObject>(hub: Kind<Hub, unknown>, spokes: readonly Spoke<Hub>[]): void {
    const key = `${hub.kind}.${hub.group}`;
    if (this.#byKind.has(key)) throw userError('DuplicateConversion', `${key} has a conversion already`);
    const toHub = new Map([[apiVersionOf(hub), SAME]]);
    const fromHub = new Map([[apiVersionOf(hub), SAME]]);
    for (const one of spokes) {
      const version = apiVersionOf(one.kind);
      if (one.kind.group !== hub.group || one.kind.kind !== hub.kind) {
        throw userError('ForeignVersion', `${version} ${one.kind.kind} is no version of ${key}`);
      }
      if (toHub.has(version)) throw userError('DuplicateConversion', `${key} has version ${version} twice`);
      // Objects of a version have the type that its kind says.
      toHub.set(version, async (object) => (await one.convertTo(object as never)) as unknown as JsonObject);
      fromHub.set(version, async (object) => (await one.convertFrom(object as never)) as unknown as JsonObject);
    }
    this.#byKind.set(key, { group: hub.group, kind: hub.kind, hub: apiVersionOf(hub), toHub, fromHub });
  }

  /** One object in another version. Rejects with a userError when that is not possible. */
  async convert(object: JsonObject, desired: string): Promise<JsonObject> {
    const [version, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
    const conversion = this.#byKind.get(`${kind}.${groupOf(version)}`);
    const [up, down] = [conversion?.toHub.get(version), conversion?.fromHub.get(desired)];
    if (up === undefined || down === undefined) {
      throw userError('NotConvertible', `${kind} cannot be converted from ${version} to ${desired}`);
    }
    if (version === desired) throw userError('SameVersion', `${kind} is asked for in ${version}, which it has`);
    const hub = await up(cloneJson(object));
    const converted = await down(cloneJson(withIdentity(hub, conversion?.hub ?? '', object)));
    return withIdentity(converted, desired, object);
  }
}

/** Only labels and annotations of metadata may change; the API server refuses anything else (W5). */
function withIdentity(converted: JsonObject, apiVersion: string, original: JsonObject): JsonObject {
  const metadata = { ...objectAt(original, 'metadata') };
  for (const key of ['labels', 'annotations']) {
    const value = getKey(objectAt(converted, 'metadata'), key);
    if (value === undefined) delete metadata[key];
    else metadata[key] = value;
  }
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = converted;
  return { apiVersion, kind: textAt(original, 'kind'), metadata, ...rest };
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** The ConversionReview that answers a body; rejects with a userError only when the body is no review (W5). */
export async function conversionAnswer(
  body: Uint8Array,
  conversions: Conversions,
  services: AnswerServices,
): Promise<JsonObject> {
  const { apiVersion, request } = readReview(body, 'ConversionReview', CONVERSION_VERSIONS);
  const uid = textAt(request, 'uid');
  const answer = (response: JsonObject): JsonObject => ({
    kind: 'ConversionReview',
    apiVersion,
    response: { uid, ...response },
  });
  try {
    const convertedObjects = await convertedAll(request, conversions, services.signal);
    return answer({ convertedObjects, result: { status: 'Success' } });
  } catch (error) {
    if (!(error instanceof SlipwayError)) {
      services.panicked();
      services.log.error({ err: error }, 'conversion failed');
    }
    return answer({ result: { status: 'Failure', message: redactedText(messageOf(error)) } });
  }
}

async function convertedAll(request: JsonObject, conversions: Conversions, signal: AbortSignal): Promise<Json[]> {
  const desired = textAt(request, 'desiredAPIVersion');
  const objects = getKey(request, 'objects');
  const converted: Json[] = [];
  // One by one, in order: a list of thousands must not hold as many promises.
  for (const object of Array.isArray(objects) ? objects : []) {
    if (!isJsonObject(object))
      throw userError('MalformedReview', 'request.objects holds something that is no object');
    converted.push(await inTime(conversions.convert(object, desired), signal));
  }
  return converted;
}
