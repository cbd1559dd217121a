import { instancesConformance } from '../../src/sdk/conformance/instances-contract.ts';
import { loadBalancersConformance } from '../../src/sdk/conformance/load-balancers-contract.ts';
import { routesConformance } from '../../src/sdk/conformance/routes-contract.ts';
import { zonesConformance } from '../../src/sdk/conformance/zones-contract.ts';
import { labSubjects } from '../support/lab-provider-world.ts';

for (const options of [{}, { consistencyMs: 2000 }]) {
  const subjects = labSubjects(options);
  zonesConformance({ make: subjects.zones });
  instancesConformance({ make: subjects.instances });
  loadBalancersConformance({ make: subjects.loadBalancers });
  routesConformance({ make: subjects.routes });
}
