import type { Addable, Manager } from '../kube/manager/create-manager.ts';
import type { CapabilityName } from '../sdk/capabilities/capabilities.ts';
import type { ConnectedProvider } from '../sdk/provider/connected-provider.ts';
import type { ControllerAlias } from '../sdk/provider/provider-definition.ts';
import type { CloudSettings } from './cloud-settings.ts';

/** What a controller of the cloud controller manager works with. */
export interface CloudEnvironment {
  /**
   * One per controller: acts as the account of the controller, its events come from its `eventSource`, its caches are
   * those of the program. Nothing has been sent when `parts` is called.
   */
  readonly manager: Manager;
  readonly provider: ConnectedProvider;
  readonly settings: CloudSettings;
}

/** One of the four controllers (ccm §2.1). */
export interface CloudController {
  /** Canonical: `cloud-node-controller`. */
  readonly name: string;
  readonly alias: ControllerAlias;
  /** ServiceAccount in kube-system with `--use-service-account-credentials`. */
  readonly account: string;
  /** `source.component` of its events: other programs look for it. */
  readonly eventSource: string;
  /** `name` in `running_managed_controllers`. */
  readonly metricName: string;
  readonly capability: CapabilityName;
  /** Why it is not to run, though nobody switched it off; undefined when it is (P3). Throws a userError to end the program (T1). */
  skipReason(environment: Pick<CloudEnvironment, 'provider' | 'settings'>): string | undefined;
  /** What runs while this process leads, with everything that it needs of the API server. Calls nothing and nobody. */
  parts(environment: CloudEnvironment): readonly Addable[];
}
