import { BOOTSTRAP_GROUP } from '../../api/agent/bootstrap-v1alpha2.ts';
import { CONTROL_PLANE_GROUP } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Provider } from '../provider.ts';

/** Names of upstream's objects, so that ours take their place (agent/P2). */
export interface AgentNames {
  readonly namespace: string;
  /** Of the ServiceAccount, the Deployment and the roles. */
  readonly account: string;
  readonly service: string;
  readonly issuer: string;
  readonly certificate: string;
  /** With the certificate of the webhooks. */
  readonly secret: string;
  readonly configuration: string;
  /** Value of `cluster.x-k8s.io/provider`, and the folder of a clusterctl repository. */
  readonly label: string;
  /** Of its kinds. */
  readonly group: string;
  /** What clusterctl reads. */
  readonly componentsFile: string;
}

const namesOf = (prefix: string, more: Pick<AgentNames, 'label' | 'group' | 'componentsFile'>): AgentNames => ({
  namespace: `${prefix}-system`,
  account: `${prefix}-controller-manager`,
  service: `${prefix}-webhook-service`,
  issuer: `${prefix}-selfsigned-issuer`,
  certificate: `${prefix}-cert`,
  secret: `${prefix}-webhook-cert-secret`,
  configuration: `${prefix}-validating-webhook-configuration`,
  ...more,
});

const NAMES: Readonly<Record<Provider, AgentNames>> = {
  bootstrap: namesOf('capoa-bootstrap', {
    label: 'bootstrap-openshift-assisted',
    group: BOOTSTRAP_GROUP,
    componentsFile: 'bootstrap-components.yaml',
  }),
  'control-plane': namesOf('capoa-controlplane', {
    label: 'control-plane-openshift-assisted',
    group: CONTROL_PLANE_GROUP,
    componentsFile: 'control-plane-components.yaml',
  }),
};

export const agentNames = (provider: Provider): AgentNames => NAMES[provider];
