import type { Call, Zones } from 'slipway/sdk';
import type { AcmeCloudClient } from './client.ts';

export const zones: Zones<Call<AcmeCloudClient>> = {
  declare: () => ({ isolated: true }),
  list: async ({ client, signal }) =>
    (await client.zones(signal)).map(({ name, available }) => ({
      name,
      region: client.region,
      isAvailable: available,
    })),
};
