import type { Metadata } from '../../sdk/capabilities/metadata.ts';

/** The metadata service of the lab (lab/C28); the longest session it gives is six hours. */
export const metadata: Metadata = {
  declare: () => ({
    addresses: ['169.254.169.254'],
    port: 80,
    token: {
      path: '/v1/token',
      method: 'PUT',
      requestHeaders: { 'lab-metadata-token-ttl-seconds': '21600' },
      header: 'lab-metadata-token',
    },
    paths: {
      instanceId: '/v1/instance/id',
      zone: '/v1/instance/zone',
      hostname: '/v1/instance/hostname',
      userData: '/v1/userdata',
    },
  }),
};
