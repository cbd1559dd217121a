/** What the controllers are told: the effective values of the flags that concern them (ccm §2.2). */
export interface CloudSettings {
  /** As the user wrote it, aliases made canonical: `*`, names, `-names` (P1). */
  readonly controllers: readonly string[];
  /** Between the starts of two controllers, one to two times this. */
  readonly controllerStartIntervalMs: number;
  readonly clusterName: string;
  readonly clusterCIDRs: readonly string[];
  readonly allocateNodeCIDRs: boolean;
  readonly configureCloudRoutes: boolean;
  readonly routeReconciliationPeriodMs: number;
  readonly nodeMonitorPeriodMs: number;
  readonly nodeStatusUpdateFrequencyMs: number;
  readonly concurrentNodeSyncs: number;
  /** Never 0: that means the same as `concurrentNodeSyncs` and is replaced by it. */
  readonly concurrentNodeStatusUpdates: number;
  readonly concurrentNodeLifecycleSyncs: number;
  readonly concurrentServiceSyncs: number;
  /** How often in a row a machine must be reported absent before its Node is deleted; 1 as upstream does (B2). */
  readonly nodeDeletionConfirmations: number;
  /** Younger Nodes are not deleted; 0 as upstream does (B2). */
  readonly nodeDeletionMinAgeMs: number;
  /** Every so often each load balancer is ensured again; 0: never, as upstream does (B5). */
  readonly serviceResyncPeriodMs: number;
  /** The periodic loop refreshes type, zone, region and additional labels too; off as upstream does (B8). */
  readonly refreshNodeLabels: boolean;
  /** Nodes without initialisation or provider ID are no backends yet (B4). */
  readonly holdBackUninitializedNodes: boolean;
  /** Routes follow the Nodes, with a full pass every twelve hours, instead of a full pass every ten seconds (B7). */
  readonly watchRoutes: boolean;
  /** Which of two labels is copied to the other on initialised nodes: the deprecated one as upstream does (N15, B14). */
  readonly labelSource: 'deprecated' | 'stable';
  /** Most calls of the routes capability at once; 200 as upstream does (B14). */
  readonly concurrentRouteCalls: number;
  /** A call of the provider that takes longer fails. */
  readonly providerCallTimeoutMs: number;
}
