import { type FieldError, invalid, required } from '../../object/field-error.ts';
import { getKey } from '../../object/json.ts';
import { goQuote } from '../../object/validation/go-text.ts';
import type { Definition } from './definition.ts';

const ANNOTATION = 'api-approved.kubernetes.io';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

type ApprovalState = 'approved' | 'bypassed' | 'missing' | 'invalid';

interface Approval {
  readonly state: ApprovalState;
  readonly reason: string;
}

const isProtected = (group: string): boolean => /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);

/** Groups of the Kubernetes community need an approval (X7); undefined for all others. */
export function approvalOf({ group, annotations }: Definition): Approval | undefined {
  if (!isProtected(group)) return undefined;
  const value = getKey(annotations, ANNOTATION);
  const text = typeof value === 'string' ? value : '';
  const must = `protected groups must have approval annotation ${goQuote(ANNOTATION)}`;
  if (text === '') return { state: 'missing', reason: `${must}, ${SEE}` };
  if (text.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${goQuote(text)}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(text))
    return { state: 'approved', reason: `approved in ${text}` };
  return { state: 'invalid', reason: `${must} with either a URL or a reason starting with "unapproved", ${SEE}` };
}

/** An approval that did not change is never complained about. */
export function approvalErrors(definition: Definition, before?: Definition): readonly FieldError[] {
  const approval = approvalOf(definition);
  if (approval === undefined || approval.state === 'approved' || approval.state === 'bypassed') return [];
  if (before !== undefined && approvalOf(before)?.state === approval.state) return [];
  const path = `metadata.annotations[${ANNOTATION}]`;
  if (approval.state === 'missing') return [required(path, approval.reason)];
  return [invalid(path, getKey(definition.annotations, ANNOTATION), approval.reason)];
}
