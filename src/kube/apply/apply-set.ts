import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { type Kind, type KubeObject, keyOf, keyText, type ObjectKey } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { retryError, userError } from '../../base/errors.ts';
import { isTrue } from '../../object/conditions.ts';
import { setControllerReference } from '../../object/owner-references.ts';
import { isNoMatch } from '../client/api-error.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { RestMapper, TypeName } from '../client/rest-mapper.ts';
import { inApplyOrder } from './apply-order.ts';
import { obsoleteObjects, type Prune } from './prune.ts';
import { until } from './until.ts';

const ESTABLISHED_MS = 60_000;
const DISCOVERY_MS = 100;

export interface ApplySetContext {
  readonly client: KubeClient;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

export interface ApplySetOptions {
  /** Controls every object, and goes after them. Objects of an owner in a namespace are in that namespace. */
  readonly owner?: KubeObject;
  readonly fieldManager?: string;
  /** True unless told otherwise: the objects are ours (§10.2). */
  readonly force?: boolean;
  /** Deletes what an earlier set had and this one has not. */
  readonly prune?: Prune;
}

/** One object of a set, as an inventory keeps it. */
export interface SetMember extends ObjectKey {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface AppliedObject extends SetMember {
  readonly result: 'created' | 'changed' | 'unchanged';
  readonly object: KubeObject;
}

export interface ApplySetResult {
  readonly applied: readonly AppliedObject[];
  readonly pruned: readonly SetMember[];
}

/**
 * Applies objects in the order of their dependencies, waits until definitions are established, then deletes what
 * belongs to an earlier set only (H5). Level-based: it may end anywhere and be called again. Nothing is deleted unless
 * everything was applied and every list of what there is was complete (reliability P32).
 */
export async function applySet(
  context: ApplySetContext,
  objects: readonly KubeObject[],
  options: ApplySetOptions = {},
): Promise<ApplySetResult> {
  checkObjects(objects);
  const applied: AppliedObject[] = [];
  for (const object of inApplyOrder(objects)) applied.push(await applyOne(context, object, options));
  const { prune, owner } = options;
  if (prune === undefined) return { applied, pruned: [] };
  const obsolete = await obsoleteObjects(context, { prune, owner, applied });
  for (const { kind, object } of obsolete) {
    const { uid } = object.metadata;
    await context.client.delete(kind, keyOf(object), {
      propagationPolicy: 'Background',
      ...(uid !== undefined && { preconditions: { uid } }),
      ...signalOf(context),
    });
  }
  return { applied, pruned: obsolete.map(({ object }) => memberOf(object)) };
}

/** A body without a name would reach a collection; two of one name would fight each other. */
function checkObjects(objects: readonly KubeObject[]): void {
  const seen = new Set<string>();
  for (const [at, object] of objects.entries()) {
    const { apiVersion, kind, metadata } = partial(object);
    if (apiVersion === undefined || kind === undefined || (metadata?.name ?? '') === '') {
      throw userError('InvalidObject', `objects[${at}] must have apiVersion, kind and metadata.name`);
    }
    const id = `${apiVersion} ${kind} ${keyText(keyOf(object))}`;
    if (seen.has(id))
      throw userError('InvalidObject', `objects[${at}]: ${kind} ${keyText(keyOf(object))} is there twice`);
    seen.add(id);
  }
}

/** Manifests come from outside: what the type promises need not be there. */
const partial = (object: Partial<KubeObject>): Partial<KubeObject> => object;

async function applyOne(
  context: ApplySetContext,
  given: KubeObject,
  { owner, prune, fieldManager, force = true }: ApplySetOptions,
): Promise<AppliedObject> {
  const { client, mapper } = context;
  const kind = await mapper.kindFor(given);
  const object = stamped(given, owner, prune?.labels ?? {});
  const existing = await client.live.find(kind, keyOf(object), signalOf(context));
  if (existing !== undefined) checkExisting(existing, owner);
  const after = await client.apply(kind, object, {
    force,
    ...(fieldManager !== undefined && { fieldManager }),
    ...signalOf(context),
  });
  const result = resultOf(existing, after);
  const isReady = result === 'unchanged' && isTrue(after, 'Established');
  if (kind.kind === 'CustomResourceDefinition' && !isReady) await established(context, kind, after);
  return { ...memberOf(after), result, object: after };
}

function stamped(
  object: KubeObject,
  owner: KubeObject | undefined,
  labels: Readonly<Record<string, string>>,
): KubeObject {
  const { metadata } = object;
  const labelled = { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
  return owner === undefined ? labelled : setControllerReference(owner, labelled);
}

/** Never takes an object from another controller, nor builds on one that is about to go. */
function checkExisting(existing: KubeObject, owner: KubeObject | undefined): void {
  if (existing.metadata.deletionTimestamp !== undefined) {
    const name = `${existing.kind} ${keyText(keyOf(existing))}`;
    throw retryError('ObjectTerminating', `${name} is being deleted; it is applied when it is gone`);
  }
  if (owner !== undefined) setControllerReference(owner, existing);
}

function resultOf(existing: KubeObject | undefined, after: KubeObject): AppliedObject['result'] {
  if (existing === undefined || existing.metadata.uid !== after.metadata.uid) return 'created';
  return existing.metadata.resourceVersion === after.metadata.resourceVersion ? 'unchanged' : 'changed';
}

/** Its objects follow in the same set. */
async function established(context: ApplySetContext, kind: Kind, crd: KubeObject): Promise<void> {
  const { client, clock, signal } = context;
  await until({ client, kind, key: keyOf(crd) }, (object) => isTrue(object, 'Established'), {
    clock,
    timeoutMs: ESTABLISHED_MS,
    what: 'to be established',
    ...(signal !== undefined && { signal }),
  });
  await discovered(context, servedTypes(crd));
}

/** Discovery follows a little later: an object of the new kind would be refused as one that nobody knows. */
async function discovered({ mapper, clock, signal }: ApplySetContext, types: readonly TypeName[]): Promise<void> {
  const limitMs = clock.monotonicMs() + ESTABLISHED_MS;
  for (const type of types) {
    for (let isKnown = false; !isKnown && clock.monotonicMs() < limitMs; ) {
      mapper.forget();
      isKnown = await mapper.kindFor(type).then(
        () => true,
        (error: unknown) => {
          if (!isNoMatch(error)) throw error;
          return false;
        },
      );
      if (!isKnown) await clock.sleep(DISCOVERY_MS, signal);
    }
  }
}

/** What a definition says that the server will serve. */
function servedTypes(crd: KubeObject & { readonly spec?: CustomResourceDefinition['spec'] }): readonly TypeName[] {
  const { group = '', names, versions = [] } = crd.spec ?? {};
  return versions
    .filter(({ served }) => served)
    .map(({ name }) => ({ apiVersion: `${group}/${name}`, kind: names?.kind ?? '' }));
}

const signalOf = ({ signal }: Pick<ApplySetContext, 'signal'>): { readonly signal?: AbortSignal } =>
  signal === undefined ? {} : { signal };

const memberOf = (object: KubeObject): SetMember => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  ...keyOf(object),
});
