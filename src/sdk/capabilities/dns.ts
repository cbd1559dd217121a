import type { CallContext, Tags } from './call.ts';

/** What a name leads to. */
export type RecordType = 'A' | 'AAAA' | 'CNAME';

/** Which records the cloud can hold. */
export interface DnsFacts {
  readonly recordTypes: readonly RecordType[];
  readonly wildcard: boolean;
  readonly minTtlSeconds: number;
}

/** A zone of the cloud. */
export interface DnsZone {
  readonly id: string;
  readonly name: string;
}

/** All records of one name and type. */
export interface RecordSet {
  /** Absolute, without the final dot. */
  readonly name: string;
  readonly type: RecordType;
  readonly targets: readonly string[];
  readonly ttlSeconds: number;
  /** Who made it; records of others are never removed. */
  readonly owner: string;
}

/** Names of the cluster in the zones of the cloud. */
export interface Dns<C extends CallContext = CallContext> {
  declare(): DnsFacts;
  /** Undefined only when the cloud says that there is none. */
  findZone(zone: { readonly id?: string; readonly tags?: Tags }, call: C): Promise<DnsZone | undefined>;
  /** Replaces everything under the name and type. */
  ensure(zone: DnsZone, record: RecordSet, call: C): Promise<void>;
  remove(
    zone: DnsZone,
    record: Pick<RecordSet, 'name' | 'type' | 'owner'>,
    call: C,
  ): Promise<'removed' | 'absent' | 'foreign'>;
}
