import type { Tags } from '../resources/resource-record.ts';

/** Who has an address of the lab. A pod in the network of its node has the address of the node, and counts as it (C29). */
export interface MetadataCaller {
  readonly instanceId: string;
  /** Name of the node that runs on the instance; undefined before there is one. */
  readonly node?: string;
  /** Only for a pod with an address of its own. */
  readonly pod?: { readonly namespace: string; readonly name: string };
}

/** What an instance may know of itself. */
export interface InstanceFacts {
  readonly id: string;
  readonly hostname: string;
  readonly zone: string;
  readonly type: string;
  readonly addresses: readonly { readonly type: 'internal' | 'external'; readonly address: string }[];
  readonly tags: Tags;
  /** Decoded; undefined without any. */
  readonly userData?: Buffer;
}

/** For programs on the instance that act in its name. */
export interface InstanceCredentials {
  readonly clientId: string;
  readonly token: string;
  readonly expiresAt: string;
}
