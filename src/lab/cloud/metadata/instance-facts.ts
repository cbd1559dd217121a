import type { InstanceFields } from '../instances/instance-fields.ts';
import type { ResourceRecord } from '../resources/resource-record.ts';
import type { InstanceFacts } from './metadata-caller.ts';

/** What the metadata service tells of an instance of the cloud. One that is gone has nobody who could ask. */
export function instanceFacts(record: ResourceRecord<InstanceFields>): InstanceFacts | undefined {
  const { id, tags, state, fields, hidden } = record;
  if (state === 'terminated') return undefined;
  const { hostname, zone, type, privateAddress, publicAddress } = fields;
  const userData = Buffer.from(hidden?.['userData'] ?? '', 'base64');
  return {
    id,
    hostname,
    zone,
    type,
    addresses: [
      { type: 'internal', address: privateAddress },
      { type: 'external', address: publicAddress },
    ],
    tags,
    ...(userData.length > 0 && { userData }),
  };
}
