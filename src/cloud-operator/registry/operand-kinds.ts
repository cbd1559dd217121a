import { appliedKind, type OperandKind } from '../apply/applied-kinds.ts';
import type { CloudProvider } from '../definition.ts';
import { specimenContext } from '../render/specimen.ts';

/**
 * The kinds that providers deploy and the namespaces where they do. A manifest has the same kind and place whatever is put
 * into it, so that one rendering tells.
 */
export function operandKinds(
  providers: readonly CloudProvider[],
  managedNamespace: string,
): readonly OperandKind[] {
  const operands = providers.flatMap((provider) =>
    provider.getResources({ ...specimenContext(provider.definition), managedNamespace }),
  );
  const byKind = Map.groupBy(operands, appliedKind);
  return [...byKind].map(([kind, found]) => {
    const namespaces = found.flatMap(({ metadata: { namespace = '' } }) => namespace || []);
    return { kind, namespaces: [...new Set(namespaces)].toSorted() };
  });
}
