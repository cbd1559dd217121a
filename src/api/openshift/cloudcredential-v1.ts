import type { Kind, KubeObject } from '../object.ts';

/** Asks the credentials operator of the cluster for a Secret with rights in the cloud. */
export interface CredentialsRequest extends KubeObject {
  readonly spec: {
    /** The Secret that is written. */
    readonly secretRef: { readonly namespace?: string; readonly name?: string };
    /** Those that use the Secret; clouds that trust tokens of the cluster must know them. */
    readonly serviceAccountNames?: readonly string[];
    /** Where their pods have the token. */
    readonly cloudTokenPath?: string;
    /** In the words of the cloud: an object with an apiVersion and a kind of its own. */
    readonly providerSpec?: Readonly<Record<string, unknown>>;
  };
  readonly status?: {
    readonly provisioned: boolean;
    readonly lastSyncGeneration: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

export const CredentialsRequest: Kind<CredentialsRequest> = {
  group: 'cloudcredential.openshift.io',
  version: 'v1',
  kind: 'CredentialsRequest',
  plural: 'credentialsrequests',
  scope: 'Namespaced',
};
