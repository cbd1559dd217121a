import { type Kind, type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import { appliedKind } from './applied-kinds.ts';
import { CONTENT_RULES, type ContentRule, contentOf } from './compare.ts';
import { cleanedMetadata, mergedMetadata } from './metadata.ts';
import { type ApplierOptions, OperandWrites } from './operand-writes.ts';
import { specHash } from './spec-hash.ts';
import {
  AppliedSpecs,
  checkConfig,
  generationOf,
  hashedWorkload,
  hasOtherSelector,
  isWorkload,
  type Workload,
  withGeneration,
} from './workload.ts';

export { APPLIED_KINDS, applyNeeds, type OperandKind } from './applied-kinds.ts';
export type { ApplierOptions } from './operand-writes.ts';
export { prune } from './prune.ts';

export type Applied = 'unchanged' | 'created' | 'updated' | 'recreated';

/**
 * Makes the cluster have an operand as it was rendered (R38–R46). May be killed anywhere and called again. What others
 * have put on its metadata stays, what they have done to its content does not. A conflict is an error like others: the
 * next reconcile starts from what is there.
 */
export interface Applier {
  apply(object: KubeObject): Promise<Applied>;
}

/** One for the life of a process: it remembers what it has found in order. */
export function createApplier(options: ApplierOptions): Applier {
  const writes = new OperandWrites(options);
  const specs = new AppliedSpecs(options.client);
  const accepted = new AcceptedContents();
  return {
    apply: async (object) => {
      const kind = appliedKind(object);
      if (isWorkload(object)) return applyWorkload({ ...options, writes, specs }, kind, object);
      const rule = CONTENT_RULES.get(kind.kind);
      // Every kind that is no workload has a rule; a test looks after that.
      if (rule === undefined) throw new Error(`no rule for ${kind.kind}`);
      return applyContent({ writes, accepted, rule }, kind, object);
    },
  };
}

/** What the server has said to be no change, though it looks like one: fields that it fills in and we do not know of. */
class AcceptedContents {
  // One entry for each operand that looks different for ever: none that we know of.
  readonly #accepted = new Map<string, string>();

  add(required: KubeObject, existing: KubeObject): void {
    this.#accepted.set(placeOf(required), stateOf(required, existing));
  }

  has(required: KubeObject, existing: KubeObject): boolean {
    return this.#accepted.get(placeOf(required)) === stateOf(required, existing);
  }
}

const placeOf = (object: KubeObject): string => `${object.kind} ${keyText(keyOf(object))}`;
const stateOf = (required: KubeObject, { metadata: { uid = '', resourceVersion = '' } }: KubeObject): string =>
  `${uid} ${resourceVersion} ${specHash(contentOf(required))}`;

interface ContentParts {
  readonly writes: OperandWrites;
  readonly accepted: AcceptedContents;
  readonly rule: ContentRule;
}

async function applyContent(
  { writes, accepted, rule }: ContentParts,
  kind: Kind,
  required: KubeObject,
): Promise<Applied> {
  const clean = { ...required, metadata: cleanedMetadata(required.metadata) };
  const existing = await writes.find(kind, required);
  if (existing === undefined) {
    await writes.create(kind, clean);
    return 'created';
  }
  checkPresent(existing);
  const [wanted, current] = [contentOf(required), contentOf(existing)];
  const { metadata, isModified } = mergedMetadata(existing.metadata, required.metadata);
  if ((!isModified && rule.isSame(wanted, current)) || accepted.has(required, existing)) return 'unchanged';
  const changed = rule.unchangeable?.(wanted, current);
  if (changed !== undefined) {
    await writes.recreate(kind, existing, clean, changed);
    return 'recreated';
  }
  const written = await writes.update(kind, { ...existing, metadata, ...rule.written(wanted, current) });
  if (written !== undefined) return 'updated';
  accepted.add(required, existing);
  return 'unchanged';
}

interface WorkloadParts extends ApplierOptions {
  readonly writes: OperandWrites;
  readonly specs: AppliedSpecs;
}

async function applyWorkload(
  { client, writes, specs }: WorkloadParts,
  kind: Kind,
  given: Workload,
): Promise<Applied> {
  const check = await checkConfig(client, given);
  writes.tellOfConfig('problem' in check ? check.problem : undefined, given);
  const required = hashedWorkload(given, check);
  const first = withGeneration({ ...required, metadata: cleanedMetadata(required.metadata) }, 1);
  const existing = await writes.find(kind, required);
  if (existing === undefined) {
    specs.remember(kind, required, await writes.create(kind, first));
    return 'created';
  }
  checkPresent(existing);
  const { metadata, isModified } = mergedMetadata(existing.metadata, required.metadata);
  if (!isModified && (await specs.isAsApplied(kind, required, existing))) return 'unchanged';
  if (hasOtherSelector(required, existing as Workload)) {
    specs.remember(kind, required, await writes.recreate(kind, existing, first, 'spec.selector'));
    return 'recreated';
  }
  const next = withGeneration({ ...existing, metadata, spec: required.spec }, generationOf(existing) + 1);
  const written = await writes.update(kind, next);
  specs.remember(kind, required, written ?? existing);
  return written === undefined ? 'unchanged' : 'updated';
}

/** Whatever is done to it goes with it. */
function checkPresent(existing: KubeObject): void {
  if (existing.metadata.deletionTimestamp === undefined) return;
  const what = `${existing.kind} ${keyText(keyOf(existing))}`;
  throw retryError('ObjectTerminating', `${what} is being deleted; it is applied when it is gone`);
}
