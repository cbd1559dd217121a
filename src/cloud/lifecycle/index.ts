import { Node } from '../../api/generated/core-v1.ts';
import { terminalError, userError } from '../../base/errors.ts';
import { needs } from '../../kube/rbac/need.ts';
import { WATCHING } from '../../kube/rbac/rules.ts';
import type { CloudController } from '../cloud-controller.ts';
import { NodeMonitor } from './node-monitor.ts';

/** Deletes Nodes whose machine is gone, and marks those whose machine is off (ccm §5). */
export const cloudNodeLifecycle: CloudController = {
  name: 'cloud-node-lifecycle-controller',
  alias: 'cloud-node-lifecycle',
  account: 'node-controller',
  eventSource: 'cloud-node-lifecycle-controller',
  metricName: 'cloud-node-lifecycle',
  capability: 'instances',

  skipReason: ({ provider }) =>
    provider.capabilities.instances === undefined
      ? `provider ${provider.name} does not offer instances`
      : undefined,

  parts: ({ manager, provider, settings }) => {
    const { instances } = provider.capabilities;
    if (instances === undefined)
      throw terminalError(
        'CapabilityMissing',
        `cloud-node-lifecycle-controller needs instances, and provider ${provider.name} does not offer them`,
      );
    if (!(settings.concurrentNodeLifecycleSyncs >= 1))
      throw userError(
        'InvalidConcurrency',
        `--concurrent-node-lifecycle-syncs must be at least 1, not ${settings.concurrentNodeLifecycleSyncs}`,
      );
    const monitor = new NodeMonitor({ manager, instances, settings });
    return [
      {
        name: 'cloud-node-lifecycle',
        group: 'leader',
        needs: [needs(Node, [...WATCHING, 'patch', 'delete'])],
        run: (signal) => monitor.run(signal),
      },
    ];
  },
};
