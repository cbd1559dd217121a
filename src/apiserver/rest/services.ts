import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../object/json.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource } from '../registry/resource.ts';
import type { ApiRequest, UserInfo } from '../request.ts';
import type { RequestInfo } from '../routing/request-info.ts';
import type { Store } from '../store/store.ts';
import type { Warnings } from '../warnings.ts';
import type { Codec } from './codec.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write as admission sees it (embedded-apiserver §16). Objects are in the version of `resource`. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent on DELETE. */
  readonly object: JsonObject | undefined;
  /** Absent on CREATE. */
  readonly oldObject: JsonObject | undefined;
  readonly user: UserInfo;
  readonly isDryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions of meta.k8s.io/v1. */
  readonly options: JsonObject;
  readonly warnings: Warnings;
}

/** The admission chain. Both throw StatusError to refuse; synchronous when nobody has to be asked. */
export interface Admission {
  /** The object to go on with; undefined when nothing changed. */
  mutate(attributes: AdmissionAttributes): Promise<JsonObject | undefined> | JsonObject | undefined;
  validate(attributes: AdmissionAttributes): Promise<void> | undefined;
}

export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
}

export interface Authorizer {
  /** Whether it is allowed; `reason` goes into SubjectAccessReview.status.reason. */
  authorize(attributes: AuthorizationAttributes): { readonly isAllowed: boolean; readonly reason: string };
}

/** What every verb needs. */
export interface Services {
  readonly clock: Clock;
  readonly store: Store;
  readonly registry: Registry;
  readonly codec: Codec;
  readonly admission: Admission;
  readonly authorizer: Authorizer;
}

/** One request on its way through the engine. */
export interface Scope extends Services {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** In the version the URL names. */
  readonly resource: Resource;
  readonly warnings: Warnings;
}

/** Where an object is kept. */
export const keyOf = ({ prefix, isNamespaced }: Resource, namespace: string, name: string): string =>
  isNamespaced ? `${prefix}${namespace}/${name}` : `${prefix}${name}`;

/** Where all objects of a list are kept. */
export const listPrefix = ({ prefix, isNamespaced }: Resource, namespace: string): string =>
  isNamespaced && namespace !== '' ? `${prefix}${namespace}/` : prefix;
