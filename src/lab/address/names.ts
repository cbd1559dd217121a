/** Every cluster, and every zone of the cloud, is below it. */
export const BASE_DOMAIN = 'lab.internal';

/** Everything of a cluster is below it (C27). */
export const clusterDomain = (cluster: string): string => `${cluster}.${BASE_DOMAIN}`;
