import type { JsonObject } from '../../api/json.ts';
import type { Kind } from '../../api/object.ts';
import type { Operation } from './admission-request.ts';

/** How the API server calls a webhook; everything has a default that is right for a webhook of one kind. */
export interface AdmissionOptions {
  /** `/mutate-…` and `/validate-…` with group, version and kind unless told otherwise (W2). */
  readonly path?: string;
  /** Of the webhook in its configuration; made from the path unless given. */
  readonly name?: string;
  /** CREATE and UPDATE, and DELETE where the validator judges it, unless told otherwise. */
  readonly operations?: readonly Operation[];
  /** `Fail` unless told otherwise: a write that was not judged does not happen. */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** 10 unless told otherwise; 1 to 30. */
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: JsonObject;
  readonly objectSelector?: JsonObject;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  /** Only for mutating webhooks: asked again when another one changed the object after it. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

export type AdmissionType = 'mutating' | 'validating';

/** One webhook of this process, as a configuration object needs it. */
export interface Registration extends AdmissionOptions {
  readonly type: AdmissionType;
  readonly path: string;
  readonly rules: readonly JsonObject[];
}

const PREFIX = { mutating: 'mutate', validating: 'validate' } as const;

/** `/mutate-ex-io-v1-widget`; the core group leaves an empty place, as in controller-runtime. */
export const webhookPath = (
  type: AdmissionType,
  { group, version, kind }: Omit<Kind, 'plural' | 'scope'>,
): string => `/${PREFIX[type]}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`;

export const ruleOf = (
  { group, version, plural, scope }: Kind<never, never>,
  operations: readonly Operation[],
): JsonObject => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: [...operations],
  resources: [plural],
  scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
});
