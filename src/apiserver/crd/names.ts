import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { goQuote } from '../../object/validation/go-text.ts';
import { approvalOf } from './approval.ts';
import { type Definition, type DefinitionNames, isConditionTrue, objectAt, parse, textAt } from './definition.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Names in use in a group, beside those of the definition that is looked at. */
export interface UsedNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

interface NamingResult {
  readonly acceptedNames: JsonObject;
  readonly namesAccepted: Condition;
  readonly established: Condition;
}

/** The names other definitions of the group hold; `builtin` adds those of kinds that come with the server. */
export function usedNames(group: string, others: readonly Definition[], builtin?: UsedNames): UsedNames {
  const resources = new Set(builtin?.resources);
  const kinds = new Set(builtin?.kinds);
  for (const { group: otherGroup, acceptedNames } of others) {
    if (otherGroup !== group) continue;
    for (const name of [acceptedNames.plural, acceptedNames.singular, ...acceptedNames.shortNames])
      resources.add(name);
    kinds.add(acceptedNames.kind).add(acceptedNames.listKind);
  }
  return { resources, kinds };
}

/** X3: which names a definition gets, and what it is told. A conflict keeps the names it had. */
export function decideNames(definition: Definition, used: UsedNames): NamingResult {
  const { names, acceptedNames } = definition;
  const accepted = { ...acceptedNames, categories: names.categories };
  let conflict: Condition | undefined;
  const refuse = (reason: string, message: string): void => {
    // The last conflict is the one that is told.
    conflict = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  const take = (
    key: 'plural' | 'singular' | 'kind' | 'listKind',
    taken: ReadonlySet<string>,
    reason: string,
  ): void => {
    const wanted = names[key];
    if (wanted !== acceptedNames[key] && taken.has(wanted)) refuse(reason, inUse(wanted));
    else accepted[key] = wanted;
  };
  take('plural', used.resources, 'PluralConflict');
  take('singular', used.resources, 'SingularConflict');
  const clashes = names.shortNames.filter(
    (name) => !acceptedNames.shortNames.includes(name) && used.resources.has(name),
  );
  if (clashes.length > 0) refuse('ShortNamesConflict', aggregate(clashes.map(inUse)));
  else accepted.shortNames = names.shortNames;
  take('kind', used.kinds, 'KindConflict');
  take('listKind', used.kinds, 'ListKindConflict');
  const namesAccepted = conflict ?? {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  return {
    acceptedNames: namesObject(accepted),
    namesAccepted,
    established: establishedOf(definition, namesAccepted),
  };
}

const inUse = (name: string): string => `${goQuote(name)} is already in use`;
const aggregate = (texts: readonly string[]): string =>
  texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;

/** Names that were accepted once stay served. */
function establishedOf(definition: Definition, namesAccepted: Condition): Condition {
  const old = definition.conditions.find(({ type }) => type === 'Established');
  if (old !== undefined && old['status'] === 'True') return conditionOf(old);
  if (namesAccepted.status === 'True') {
    const message = 'the initial names have been accepted';
    return { type: 'Established', status: 'False', reason: 'Installing', message };
  }
  if (old !== undefined) return conditionOf(old);
  return { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

const conditionOf = (raw: JsonObject): Condition => ({
  type: textAt(raw, 'type'),
  status: raw['status'] === 'True' ? 'True' : 'False',
  reason: textAt(raw, 'reason'),
  message: textAt(raw, 'message'),
});

const namesObject = ({
  plural,
  singular,
  shortNames,
  kind,
  listKind,
  categories,
}: DefinitionNames): JsonObject => ({
  plural,
  ...(singular !== '' && { singular }),
  ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
  kind,
  ...(listKind !== '' && { listKind }),
  ...(categories.length > 0 && { categories: [...categories] }),
});

/** The status after the names were looked at; undefined when nothing changes. */
export function namingStatus(crd: JsonObject, used: UsedNames, now: Date): JsonObject | undefined {
  const definition = parse(crd);
  const { acceptedNames, namesAccepted, established } = decideNames(definition, used);
  const status = objectAt(crd, 'status');
  const known = definition.conditions.find(({ type }) => type === 'NamesAccepted');
  if (jsonEqual(status['acceptedNames'], acceptedNames) && known !== undefined && isSame(known, namesAccepted)) {
    return undefined;
  }
  const approval = approvalCondition(definition);
  const conditions = [namesAccepted, established, ...(approval === undefined ? [] : [approval])];
  return { ...status, conditions: setConditions(definition.conditions, conditions, now), acceptedNames };
}

/** The status when the definition is served from now on; undefined when it is not time or already so. */
export function establishedStatus(crd: JsonObject, now: Date): JsonObject | undefined {
  const definition = parse(crd);
  if (!isConditionTrue(definition, 'NamesAccepted') || isConditionTrue(definition, 'Established'))
    return undefined;
  const message = 'the initial names have been accepted';
  const established: Condition = { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message };
  return { ...objectAt(crd, 'status'), conditions: setConditions(definition.conditions, [established], now) };
}

const APPROVAL_REASONS = {
  approved: 'ApprovedAnnotation',
  bypassed: 'UnapprovedAnnotation',
  missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation',
} as const;

function approvalCondition(definition: Definition): Condition | undefined {
  const approval = approvalOf(definition);
  if (approval === undefined) return undefined;
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: approval.state === 'approved' ? 'True' : 'False',
    reason: APPROVAL_REASONS[approval.state],
    message: approval.reason,
  };
}

const isSame = (raw: JsonObject, { status, reason, message }: Condition): boolean =>
  raw['status'] === status && raw['reason'] === reason && raw['message'] === message;

/** Puts conditions into a list; the time changes only with the status. */
export function setConditions(list: readonly JsonObject[], conditions: readonly Condition[], now: Date): Json[] {
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const result: Json[] = list.map((condition) => ({ ...condition }));
  for (const { type, status, reason, message } of conditions) {
    const index = result.findIndex((known) => isJsonObject(known) && known['type'] === type);
    const known = list[index];
    const lastTransitionTime = known?.['status'] === status ? (known['lastTransitionTime'] ?? time) : time;
    const condition = { type, status, lastTransitionTime, reason, message };
    if (index < 0) result.push(condition);
    else result[index] = condition;
  }
  return result;
}
