import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import type { ChannelSource } from '../../kube/controller/channel.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import { OperatorStatus } from '../status/operator-status.ts';
import { Operands } from './operands.ts';
import { OperatorMetrics } from './operator-metrics.ts';
import { CloudOperator, type CloudOperatorOptions } from './reconcile.ts';
import { CONTROLLER_NAME, cloudOperatorController } from './watches.ts';

/** What the main controller is told. */
export interface CloudOperatorSettings
  extends Pick<
    CloudOperatorOptions,
    'names' | 'version' | 'gatesVersion' | 'providers' | 'provider' | 'images' | 'tls'
  > {
  /** Operands that are not rendered any more are deleted (R47). */
  readonly prune: boolean;
  /** Tells of a new images.json. */
  readonly imagesChanged: ChannelSource;
}

/** The main controller for one manager. */
export function cloudOperator(
  { client: shared, events, log, clock, metrics: registry }: Manager,
  settings: CloudOperatorSettings,
): Controller {
  const { names, prune, providers, provider, imagesChanged } = settings;
  const { clusterOperator: name } = names;
  const fieldManager = `${shared.fieldManager}/${CONTROLLER_NAME}`;
  const client = shared.as(fieldManager);
  const regarding: ClusterOperator = {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterOperator',
    metadata: { name },
  };
  const status = new OperatorStatus({ client, name, fieldManager, clock });
  const metrics = new OperatorMetrics(registry, clock);
  const kinds = providers.operandKinds(names.managedNamespace, { provider });
  const operands = new Operands({ client, events, regarding, log, names, kinds, prune, metrics, clock });
  const operator = new CloudOperator({ ...settings, operands, status, metrics, clock });
  return cloudOperatorController({ names, kinds, prune, imagesChanged, operator, operands, status });
}
