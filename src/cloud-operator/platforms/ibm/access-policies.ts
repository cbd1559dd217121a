/** A policy of the access management of IBM Cloud, as the credentials operator takes it. */
export interface AccessPolicy {
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
  readonly roles: readonly string[];
}

const platformRole = (name: string): string => `crn:v1:bluemix:public:iam::::role:${name}`;
const serviceRole = (name: string): string => `crn:v1:bluemix:public:iam::::serviceRole:${name}`;

/** Load balancers of the virtual network (service `is`), in a resource group that must be found first. */
export const NETWORK_POLICIES: readonly AccessPolicy[] = [
  { attributes: [{ name: 'resourceType', value: 'resource-group' }], roles: [platformRole('Viewer')] },
  {
    attributes: [{ name: 'serviceName', value: 'is' }],
    roles: [platformRole('Editor'), platformRole('Operator'), platformRole('Viewer')],
  },
];

/** Power machines are of a service of their own. */
export const POWER_POLICY: AccessPolicy = {
  attributes: [{ name: 'serviceName', value: 'power-iaas' }],
  roles: [platformRole('Viewer'), serviceRole('Reader'), serviceRole('Manager')],
};
