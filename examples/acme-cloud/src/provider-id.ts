/** What the IDs of machines begin with. Never change it for a cluster that lives. */
export const SCHEME = 'acme-cloud';
const PROVIDER_ID = new RegExp(`^${SCHEME}://[^/]+/(?<id>[^/]+)$`);

export const providerIDOf = ({ zone, id }: { readonly zone: string; readonly id: string }): string =>
  `${SCHEME}://${zone}/${id}`;

/** Undefined for a machine of another cloud. */
export const instanceIDOf = (providerID: string): string | undefined =>
  PROVIDER_ID.exec(providerID)?.groups?.['id'];
