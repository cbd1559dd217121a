/** The first of the 32 networks for ClusterIPs in the plan (X1). */
const FIRST = 96;

/** Pure: where the ClusterIPs of a cluster come from. One cluster has all of them, several share them. */
export const serviceRange = (octet: number, cluster: number, clusters: number): string =>
  clusters === 1 ? `10.${octet}.${FIRST}.0/19` : `10.${octet}.${FIRST - 1 + cluster}.0/24`;
