/** Codes for definitions of providers: SW210x for loading them, SW211x–212x for what is wrong, SW215x–216x for warnings. */
export const DEFINITION_FAILURES = {
  SW2101: {
    title: 'The definition is not there',
    cause: 'The path names nothing, or a folder without a definition in it.',
    detect:
      'In a folder, slipway.yaml (spec.definition), provider.ts, provider.js and provider.mjs are looked for.',
    fix: 'Name the file with the definition, or the folder that it is in.',
    example:
      'slipway run cloud-controller-manager --provider ./acme → there is no definition in ./acme: looked for provider.ts, provider.js, provider.mjs',
  },
  SW2102: {
    title: 'The definition cannot be loaded',
    cause: 'The file has a syntax error, imports something that is not there, or throws while it is loaded.',
    detect: 'The file is imported as Node imports any module; the message names the line that Node names.',
    fix: 'Correct the line. For a package that is not there run `npm install` beside its package.json.',
    example:
      "provider.ts: it imports 'slipway', which is not there: run npm install in the folder of its package.json",
  },
  SW2103: {
    title: 'The file holds no definition',
    cause:
      'The file is no module (.ts, .js or .mjs), has no default export, or one that `defineProvider` did not make.',
    detect:
      'Definitions carry a mark that only `defineProvider` gives, whatever copy of the package it comes from.',
    fix: 'Name the file with the definition, and write `export default defineProvider({ … })` in it.',
    example: 'provider.ts: it has no default export: write export default defineProvider({ … })',
  },
  SW2104: {
    title: 'The definition is wrong',
    cause: 'At least one field of the definition is not as it must be.',
    detect: '`defineProvider` checks everything when the file is loaded and reports all problems at once.',
    fix: 'Correct the lines that the message names; each has a code of its own. `slipway lint PATH` shows more.',
    example: 'slipway run cloud-controller-manager --provider ./acme',
  },
  SW2105: {
    title: 'There is nothing to check',
    cause: 'A manifest cannot be read, or a folder holds neither a definition nor manifests.',
    detect:
      'In a folder without a definition, `slipway lint` looks for YAML files in it, in assets/ and bootstrap/, or in manifests/.',
    fix: 'Name a definition, a YAML file, or a folder with one of them.',
    example:
      'slipway lint ./empty → there is nothing to check in ./empty: looked for slipway.yaml, provider.ts, provider.js, provider.mjs, *.yaml, assets/*.yaml, bootstrap/*.yaml, manifests/*.yaml',
  },
  SW2110: {
    title: 'Unknown field, capability or method',
    cause: 'A name in the definition is not known at that place, mostly a typo.',
    detect: 'Every name is compared with those of the reference (docs/reference/provider-definition.md).',
    fix: 'Use the suggested name, or leave the field out.',
    example: 'capabilities.loadBalancer is unknown: did you mean loadBalancers?',
  },
  SW2111: {
    title: 'A required field is missing',
    cause: 'The definition, or the facts of a capability, leave out something that has no default.',
    detect: 'Required fields are looked for when the definition is loaded.',
    fix: 'Add the field; the message shows how.',
    example: 'capabilities.loadBalancers.declare().healthChecks is missing',
  },
  SW2112: {
    title: 'A value of the wrong kind',
    cause: 'A field holds text where a list is needed, a number where a bigint is needed, or the like.',
    detect: 'The kind of every value is checked when the definition is loaded, with or without TypeScript.',
    fix: 'Write a value of the kind that the message names; leave the field out instead of null.',
    example: 'capabilities.volumes.declare().minBytes must be a bigint of at least 1n, not 1024',
  },
  SW2113: {
    title: 'A value that is not allowed',
    cause: 'The value is of the right kind, but not among those that are allowed.',
    detect: 'Choices, ranges and forms are checked when the definition is loaded.',
    fix: 'Write one of the values that the message lists.',
    example: "architectures[0] must be one of 'amd64', 'arm64', 'ppc64le', 's390x', not \"x86_64\"",
  },
  SW2114: {
    title: 'The name cannot be used',
    cause:
      'Names of objects, folders and images are made of the name, and it would make some that are not allowed.',
    detect: 'The name must be a DNS label in lower case that begins with a letter, of at most 38 characters.',
    fix: 'Use the suggested one; the name for people is displayName.',
    example:
      "name must be at most 38 lower-case letters, digits and '-' …, not \"Acme Cloud\": write 'acme-cloud'",
  },
  SW2115: {
    title: 'providerID does not describe the IDs of machines',
    cause:
      'Every machine has a provider ID such as acme://eu-1/0a1b2c. Its scheme, its format, a pattern for all of it and an example must describe the same IDs, and one of them does not.',
    detect:
      "With scheme 'acme' the pattern must begin with '^acme://' and end with '$', so that it takes no ID of another cloud; the example must match the pattern and the format.",
    fix: 'Compare the field that the message names with the ID of a real machine, and correct it. Do it before the first cluster: the form must never change for a live one.',
    example:
      "providerID: { scheme: 'acme', format: '{zone}/{id}', pattern: /^acme:\\/\\/[a-z0-9-]+\\/[0-9a-f]+$/, example: 'acme://eu-1/0a1b2c' }",
  },
  SW2116: {
    title: 'The cluster tag cannot be made',
    cause:
      'tags.clusterKey throws, returns no text or the same for all clusters, or tags.allowed refuses its key.',
    detect: 'The key is made for two clusters when the definition is loaded.',
    fix: 'Return a key with the id of the cluster in it, of letters that the cloud allows.',
    example: 'tags.clusterKey must differ between clusters, but gave "cluster" for two',
  },
  SW2117: {
    title: 'A capability lacks a method',
    cause: 'A capability has some of its methods only; half of one cannot be used.',
    detect: 'The methods of each capability are looked for when the definition is loaded.',
    fix: 'Add the method, or leave the whole capability out: what needs it is then turned off and says so.',
    example: 'capabilities.loadBalancers has no method setBackends',
  },
  SW2118: {
    title: 'declare() does not give facts',
    cause:
      'declare() of a capability throws, needs arguments, or returns a promise or something that is no plain data.',
    detect: 'declare() is called once, without arguments, when the definition is loaded.',
    fix: 'Return a literal. What must be asked of the cloud is no fact of the definition.',
    example: 'capabilities.zones.declare() must return facts, not a promise of them',
  },
  SW2119: {
    title: 'Facts that cannot all be true',
    cause: 'Two facts of a capability contradict each other.',
    detect: 'Facts are compared with each other when the definition is loaded.',
    fix: 'Correct the one that is wrong.',
    example: 'capabilities.volumes.declare().maxBytes must be at least minBytes (1024n), not 1n',
  },
  SW2120: {
    title: 'A capability needs another one',
    cause: 'The capability works with things of another one, which the definition does not have.',
    detect: 'The names of the capabilities are compared when the definition is loaded.',
    fix: 'Add the other capability, or leave this one out.',
    example: 'capabilities.snapshots needs the capability volumes, which is missing',
  },
  SW2121: {
    title: 'The cloud controller manager lacks a capability',
    cause: 'ccm says that nodes wait for it, or that a controller runs, and nothing can do its work.',
    detect:
      'cloud-node and cloud-node-lifecycle need instances, service needs loadBalancers, route needs routes; external needs instances or metadata.',
    fix: 'Add the capability, leave the controller out, or write ccm: { external: false }.',
    example: "ccm.controllers[0] is 'route', which needs the capability routes; it is missing",
  },
  SW2122: {
    title: 'A secret is not the name of a variable',
    cause: 'secrets lists names of environment variables; something else stands there, perhaps the secret itself.',
    detect: 'Each entry must consist of letters, digits and underscores. The value is not shown.',
    fix: 'Write the name of the variable. If a real secret was there, replace it at the cloud: it is in the file.',
    example: "secrets: ['ACME_TOKEN']",
  },
  SW2123: {
    title: 'A part of the definition cannot be read',
    cause: 'A getter throws, an object contains itself, or something is nested without end.',
    detect: 'Everything is read once when the definition is loaded.',
    fix: 'Write the value itself.',
    example: 'storage.defaultClass contains itself',
  },
  SW2124: {
    title: 'Half of a pair of methods',
    cause:
      'attach and detach of volumes come together: one without the other leaves volumes that cannot be moved.',
    detect: 'The methods of each capability are looked for when the definition is loaded.',
    fix: 'Add the other one, or leave both out.',
    example: 'capabilities.volumes has attach, but no detach',
  },
  SW2151: {
    title: 'One call per node',
    cause: 'instances has no describeMany, so every pass over the nodes makes one call for each.',
    detect: 'slipway lint looks for the method.',
    fix: 'Add describeMany, which answers for many nodes with as few requests as the cloud allows.',
    example: 'instances: { declare, describe, describeMany }',
  },
  SW2152: {
    title: 'Instances without zones',
    cause: 'There are instances, and no capability that lists the zones they can be in.',
    detect: 'slipway lint compares the names of the capabilities.',
    fix: 'Add zones, with one zone when the cloud has no more.',
    example: 'capabilities: { instances, zones }',
  },
  SW2153: {
    title: 'Machines cannot find out who they are',
    cause: 'Without the capability metadata no provider ID can be given to the kubelet when a machine starts.',
    detect: 'slipway lint looks for the capability.',
    fix: 'Add metadata with paths.instanceId, if the cloud has such a service.',
    example:
      "metadata: { declare: () => ({ addresses: ['169.254.169.254'], paths: { instanceId: '/meta/id' } }) }",
  },
  SW2154: {
    title: 'Load balancers are open to everybody',
    cause: 'loadBalancers does not enforce source ranges, so a Service that asks for them is refused.',
    detect: 'slipway lint reads declare().sourceRanges.',
    fix: 'Enforce sourceRanges of the plan, and declare sourceRanges: true.',
    example: 'declare: () => ({ …, sourceRanges: true })',
  },
  SW2155: {
    title: 'The form of provider IDs has no example',
    cause: 'Without providerID.example nothing shows that the pattern matches what the cloud gives.',
    detect: 'slipway lint looks for the field.',
    fix: 'Add the provider ID of a real machine.',
    example: "providerID: { …, example: 'acme://eu-1/0a1b2c' }",
  },
  SW2156: {
    title: 'The key of the cluster tag is too long',
    cause: 'tags.maxKey is less than the key of the cluster tag needs for the longest id of a cluster.',
    detect: 'The key is made for an id of 27 characters, as long as the installer makes them.',
    fix: 'Give a shorter tags.clusterKey.',
    example: 'tags: { clusterKey: (id) => `c/${id}`, maxKey: 32 }',
  },
  SW2157: {
    title: 'Volumes cannot be attached',
    cause: 'volumes has no attach and detach, so pods cannot use them.',
    detect: 'slipway lint looks for the methods.',
    fix: 'Add attach and detach, unless the volumes are reached over the network.',
    example: 'volumes: { declare, create, describe, list, remove, attach, detach }',
  },
  SW2158: {
    title: 'A storage class without volumes',
    cause: 'storage names a default class, and no capability makes volumes for it.',
    detect: 'slipway lint compares both.',
    fix: 'Add volumes, or leave storage out.',
    example: "storage: { defaultClass: { name: 'acme-ssd' } } without volumes",
  },
  SW2159: {
    title: 'Ingress without load balancers',
    cause: "ingress.strategy is 'LoadBalancerService', and no capability makes load balancers.",
    detect: 'slipway lint compares both.',
    fix: "Add loadBalancers, or write strategy: 'HostNetwork'.",
    example: "ingress: { strategy: 'LoadBalancerService' } without loadBalancers",
  },
  SW2160: {
    title: 'A fact that nothing uses',
    cause: 'instances declares maxBatch, the limit of describeMany, and has no describeMany.',
    detect: 'slipway lint compares both.',
    fix: 'Add describeMany, or leave maxBatch out.',
    example: 'instances: { declare: () => ({ maxBatch: 100 }), describe }',
  },
} as const;
