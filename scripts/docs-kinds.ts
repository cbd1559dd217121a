import {
  OpenshiftAssistedConfigDefinition,
  OpenshiftAssistedConfigTemplateDefinition,
} from '../src/api/agent/bootstrap-v1alpha2.schema.ts';
import {
  OpenshiftAssistedControlPlaneDefinition,
  OpenshiftAssistedControlPlaneTemplateDefinition,
} from '../src/api/agent/controlplane-v1alpha3.schema.ts';
import type { DefinedKind } from '../src/api/schema/define-kind.ts';

/** What a page of a kind shows of its definition. */
interface KindPage {
  readonly path: string;
  readonly definition: DefinedKind;
  /** Fields that another page has, with all that is below them. */
  readonly elsewhere: readonly string[];
}

const CONDITION_FIELDS = ['status.conditions[].', 'status.v1beta1Conditions[].'];

/** Pages of kinds: people write them, but for the table of fields (style S65). */
export const KIND_PAGES: readonly KindPage[] = [
  {
    path: 'docs/reference/openshift-assisted-config.md',
    definition: OpenshiftAssistedConfigDefinition,
    elsewhere: CONDITION_FIELDS,
  },
  {
    path: 'docs/reference/openshift-assisted-config-template.md',
    definition: OpenshiftAssistedConfigTemplateDefinition,
    elsewhere: ['spec.template.spec.'],
  },
  {
    path: 'docs/reference/openshift-assisted-control-plane.md',
    definition: OpenshiftAssistedControlPlaneDefinition,
    elsewhere: ['spec.openshiftAssistedConfigSpec.', ...CONDITION_FIELDS],
  },
  {
    path: 'docs/reference/openshift-assisted-control-plane-template.md',
    definition: OpenshiftAssistedControlPlaneTemplateDefinition,
    elsewhere: ['spec.template.spec.config.', 'spec.template.spec.openshiftAssistedConfigSpec.'],
  },
];

/** The headings of every such page, in this order. */
export const KIND_HEADINGS: readonly string[] = [
  'Example',
  'What happens',
  'Fields',
  'Conditions and reasons',
  'Events',
  'Deletion',
  'Troubleshooting',
];

const TABLE = /(<!-- fields -->\n)[\s\S]*?(<!-- end of fields -->)/;

/** The page with the table of fields as the definition has it. Throws when it has no place for one. */
export function withFields(
  markdown: string,
  {
    definition,
    elsewhere,
  }: { readonly definition: Pick<DefinedKind, 'docs'>; readonly elsewhere: readonly string[] },
): string {
  if (!TABLE.test(markdown)) throw new Error('a page of a kind has <!-- fields --> and <!-- end of fields -->');
  const rows = definition
    .docs()
    .split('\n')
    .filter((line) => line.startsWith('|') && !elsewhere.some((field) => line.startsWith(`| \`${field}`)));
  // In a function: a description may hold a dollar sign.
  return markdown.replace(
    TABLE,
    (_all, before: string, after: string) => `${before}\n${rows.join('\n')}\n\n${after}`,
  );
}
