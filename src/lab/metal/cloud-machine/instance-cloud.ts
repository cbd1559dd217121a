import type { MachineAddress } from '../../../api/cluster-api/core-v1beta2.ts';

/** What an instance is to be. */
export interface InstanceWish {
  /** Names it in the cloud, and with it its host. */
  readonly name: string;
  /** Ignition as text: what the image on its disk is told. */
  readonly userData: string;
  /** That of the cloud unless told. */
  readonly zone?: string;
  readonly type?: string;
  readonly imageId?: string;
}

/** An instance as the cloud has it. */
export interface CloudInstance {
  readonly id: string;
  readonly providerId: string;
  readonly hostname: string;
  readonly zone: string;
  readonly addresses: readonly MachineAddress[];
  readonly macAddresses: readonly string[];
  /** `running` when it is on; anything else is on its way there, or lost. */
  readonly state: string;
}

/** Instances of a cloud, by a key that whoever asks chooses: the same key is the same instance. */
export interface InstanceCloud {
  /** Created when there is none for the key; the one that is there is not changed. */
  ensure(key: string, wish: InstanceWish, signal: AbortSignal): Promise<CloudInstance>;
  /** True when it is gone; false while it goes. Succeeds for unknown ones. */
  remove(key: string, signal: AbortSignal): Promise<boolean>;
}
