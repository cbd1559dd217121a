import type { Controller } from '../../kube/controller/controller.ts';
import type { CertificateAuthority } from '../../pki/certificate-authority.ts';
import type { StandInName } from '../setup/lab-options.ts';
import { rootAuthorityController, serviceAccountController } from '../workloads/accounts/controllers.ts';
import type { CertificateDates } from '../workloads/csr-signer/certificate-lifetime.ts';
import { csrSignerController } from '../workloads/csr-signer/controller.ts';
import { daemonSetController } from '../workloads/daemonset/controller.ts';
import { deploymentController } from '../workloads/deployment/controller.ts';
import { disruptionController } from '../workloads/disruption/controller.ts';
import { staleDisruptionController } from '../workloads/disruption/stale-disruption.ts';
import { endpointSliceController } from '../workloads/endpoints/controller.ts';
import { endpointsController } from '../workloads/endpoints/legacy-controller.ts';
import { jobController } from '../workloads/job/controller.ts';
import { finishedJobController } from '../workloads/job/finished-jobs.ts';
import { orphanedPodController } from '../workloads/job/orphaned-pods.ts';
import { nodeLifecycleController } from '../workloads/node-lifecycle/controller.ts';
import { podGcController } from '../workloads/pod-gc/controller.ts';
import { replicaSetController } from '../workloads/replicaset/controller.ts';
import { schedulerController } from '../workloads/scheduler/controller.ts';
import type { StandIn } from '../workloads/start-workloads.ts';
import { taintEvictionController } from '../workloads/taint-eviction/controller.ts';

export interface StandInOptions {
  /** Signs certificates of nodes; without it somebody else does. */
  readonly authority?: CertificateAuthority;
  /** Vouches for the API server; without it nobody tells pods who does. */
  readonly authorityPem?: string;
  /** From when to when what it signs is valid. */
  readonly certificates?: CertificateDates;
}

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kube-system'];

/** A controller of kube-controller-manager acts as an account of its own (A5). */
const account = (
  name: StandInName,
  user: string,
  controllers: () => readonly Controller[],
  reporter?: string,
): StandIn => ({
  name,
  user: `system:serviceaccount:kube-system:${user}`,
  groups: ACCOUNTS,
  controllers,
  ...(reporter !== undefined && { reporter }),
});

/** Everything that the lab stands in for besides nodes and the proxy (A4). */
export const standIns = ({ authority, authorityPem, certificates }: StandInOptions): readonly StandIn[] => [
  account('deployment', 'deployment-controller', () => [deploymentController()]),
  account('replicaset', 'replicaset-controller', () => [replicaSetController()]),
  account('daemonset', 'daemon-set-controller', () => [daemonSetController()], 'daemonset-controller'),
  account('job', 'job-controller', () => [jobController(), orphanedPodController(), finishedJobController()]),
  {
    name: 'scheduler',
    user: 'system:kube-scheduler',
    groups: [],
    reporter: 'default-scheduler',
    controllers: () => [schedulerController()],
  },
  account('endpoints', 'endpointslice-controller', () => [endpointSliceController()], 'endpoint-slice-controller'),
  account('endpoints', 'endpoint-controller', () => [endpointsController()]),
  account('disruption', 'disruption-controller', () => [disruptionController(), staleDisruptionController()]),
  account('nodeLifecycle', 'node-controller', () => [nodeLifecycleController()]),
  account('nodeLifecycle', 'taint-eviction-controller', () => [taintEvictionController()]),
  account('nodeLifecycle', 'pod-garbage-collector', () => [podGcController()]),
  account('accounts', 'service-account-controller', () => [serviceAccountController()]),
  ...(authorityPem === undefined
    ? []
    : [account('accounts', 'root-ca-cert-publisher', () => [rootAuthorityController({ authorityPem })])]),
  ...(authority === undefined
    ? []
    : [
        account('csrSigner', 'certificate-controller', () => [
          csrSignerController({ authority, ...(certificates !== undefined && { certificates }) }),
        ]),
      ]),
];
