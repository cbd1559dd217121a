import type { JsonObject } from '../../api/json.ts';
import { goDuration } from '../../base/duration.ts';
import type { ProgramSettings } from './settings.ts';

const GROUP = 'cloudcontrollermanager.config.k8s.io';

/** The effective configuration, in the form in which upstream shows it at `/configz` (P11). Pure. */
export const configz = ({ cloud, flags: read, ...program }: ProgramSettings): JsonObject => ({
  [GROUP]: {
    kind: 'CloudControllerManagerConfiguration',
    apiVersion: `${GROUP}/v1alpha1`,
    Generic: genericOf({ cloud, flags: read, ...program }),
    KubeCloudShared: {
      CloudProvider: { Name: program.cloudProvider, CloudConfigFile: program.cloudConfigFile },
      ExternalCloudVolumePlugin: read.text('external-cloud-volume-plugin'),
      UseServiceAccountCredentials: program.useServiceAccountCredentials,
      AllowUntaggedCloud: program.allowUntaggedCloud,
      RouteReconciliationPeriod: goDuration(cloud.routeReconciliationPeriodMs),
      NodeMonitorPeriod: goDuration(cloud.nodeMonitorPeriodMs),
      ClusterName: cloud.clusterName,
      ClusterCIDR: read.text('cluster-cidr'),
      AllocateNodeCIDRs: cloud.allocateNodeCIDRs,
      CIDRAllocatorType: read.text('cidr-allocator-type'),
      ConfigureCloudRoutes: cloud.configureCloudRoutes,
      NodeSyncPeriod: goDuration(read.number('node-sync-period')),
    },
    NodeController: {
      ConcurrentNodeSyncs: cloud.concurrentNodeSyncs,
      ConcurrentNodeStatusUpdates: cloud.concurrentNodeStatusUpdates,
    },
    NodeLifecycleController: { ConcurrentNodeLifecycleSyncs: cloud.concurrentNodeLifecycleSyncs },
    ServiceController: { ConcurrentServiceSyncs: cloud.concurrentServiceSyncs },
    NodeStatusUpdateFrequency: goDuration(cloud.nodeStatusUpdateFrequencyMs),
    Webhook: { Webhooks: [...read.list('webhooks')] },
  },
});

const genericOf = ({ cloud, flags: read, api, plain, secure }: ProgramSettings): JsonObject => ({
  Port: plain?.port ?? 0,
  Address: read.text('address'),
  MinResyncPeriod: goDuration(api.minResyncMs),
  ClientConnection: {
    kubeconfig: api.kubeconfig,
    acceptContentTypes: '',
    contentType: 'application/json',
    qps: api.rateLimit?.qps ?? 0,
    burst: api.rateLimit?.burst ?? 0,
  },
  ControllerStartInterval: goDuration(cloud.controllerStartIntervalMs),
  LeaderElection: {
    leaderElect: read.is('leader-elect'),
    leaseDuration: goDuration(read.number('leader-elect-lease-duration')),
    renewDeadline: goDuration(read.number('leader-elect-renew-deadline')),
    retryPeriod: goDuration(read.number('leader-elect-retry-period')),
    resourceLock: read.text('leader-elect-resource-lock'),
    resourceName: read.text('leader-elect-resource-name'),
    resourceNamespace: read.text('leader-elect-resource-namespace'),
  },
  Controllers: [...cloud.controllers],
  Debugging: {
    EnableProfiling: secure?.profiling ?? false,
    EnableContentionProfiling: read.is('contention-profiling'),
  },
});
