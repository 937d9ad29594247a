import Foundation

/// A deep copy of related entities: references between them become references between the copies.
internal struct ModelCopy {
    let entities: [NSEntityDescription]

    init(of originals: [NSEntityDescription]) {
        let pairs = originals.map { original in
            let copy = type(of: original).init()
            copy.assign(from: original)
            return (original: original, copy: copy)
        }
        let copies = Dictionary(
            pairs.map { (ObjectIdentifier($0.original), $0.copy) }, uniquingKeysWith: { first, _ in first })
        for (original, copy) in pairs {
            copy.subentities = original.subentities.compactMap { copies[ObjectIdentifier($0)] }
            for case let relationship as NSRelationshipDescription in copy.ownProperties {
                if let destination = relationship.destinationEntity {
                    relationship.destinationEntity = copies[ObjectIdentifier(destination)]
                }
                if let inverse = relationship.inverseRelationship, let owner = inverse.entityIfAny {
                    let copiedOwner = copies[ObjectIdentifier(owner)]
                    relationship.inverseRelationship =
                        copiedOwner?.ownProperties.first { $0.name == inverse.name } as? NSRelationshipDescription
                }
            }
        }
        entities = pairs.map(\.copy)
        // Indexes may refer to inherited properties.
        for (original, copy) in pairs {
            let names = copy.propertiesByName
            for (index, copiedIndex) in zip(original.indexes, copy.indexes) {
                for (element, copiedElement) in zip(index.elements, copiedIndex.elements)
                where !(element.property is NSExpressionDescription) {
                    if let name = element.propertyName, let property = names[name] { copiedElement.property = property }
                }
            }
        }
    }
}
