import CoreData
import GraphDocuments

/// The checks of an attribute of the newer version.
enum AttributeChecks {
    static func checks(
        _ attribute: NSAttributeDescription, of entity: NSEntityDescription, from before: NSAttributeDescription?
    ) throws -> [RowRehearsalCheck] {
        // The store computes derived attributes.
        guard !(attribute is NSDerivedAttributeDescription) else { return [] }
        let name = entity.name
        let isFilled = attribute.isOptional || attribute.defaultValue != nil
        guard let before else {
            guard !isFilled else { return [] }
            return [
                RowRehearsalCheck(
                    .missingValue, name, attribute.name, isBreaking: true,
                    "The attribute is new and required, and has no default value. Declare one, or give the objects a value."
                ) { [$0.objectID] }
            ]
        }
        let key = before.name
        var checks: [RowRehearsalCheck] = []
        if before.attributeType != attribute.attributeType {
            let conversion = try AttributeRepair(
                from: before, to: attribute,
                repairs: [MigrationRepair("", .convert(attribute: attribute.name, .refuse))])
            checks.append(
                RowRehearsalCheck(
                    .unconvertibleValue, name, attribute.name, isBreaking: true,
                    "The value is not a valid \(GraphValueType(attribute.attributeType)). Clamp, replace or remove "
                        + "such values."
                ) { object in
                    if case .refused = conversion.outcome(for: object) { [object.objectID] } else { [] }
                })
        }
        if !isFilled, before.isOptional {
            checks.append(
                RowRehearsalCheck(
                    .missingValue, name, attribute.name, isBreaking: true,
                    "The attribute becomes required and has no default value. Declare one, or give the objects a value."
                ) { $0.hasValue(forKey: key) ? [] : [$0.objectID] })
        }
        return checks
    }

    /// The checks of an attribute with repairs: the values that the repairs reject, and those that they change.
    static func repaired(
        _ attribute: NSAttributeDescription, of entity: NSEntityDescription, _ repair: AttributeRepair
    ) -> [RowRehearsalCheck] {
        let isRequired = !attribute.isOptional
        return [
            RowRehearsalCheck(
                .unconvertibleValue, entity.name, attribute.name, isBreaking: true,
                "The value cannot be converted, and the repair does not specify another value."
            ) { object in
                if case .refused = repair.outcome(for: object) { [object.objectID] } else { [] }
            },
            RowRehearsalCheck(
                .missingValue, entity.name, attribute.name, isBreaking: true,
                "The attribute is required, and the repair gives the objects no value."
            ) { object in
                switch repair.outcome(for: object) {
                case .kept(.null), .changed(.null): isRequired ? [object.objectID] : []
                default: []
                }
            },
            RowRehearsalCheck(
                .changedValue, entity.name, attribute.name, isBreaking: false, "The repair changes the value."
            ) { object in
                if case .changed = repair.outcome(for: object) { [object.objectID] } else { [] }
            },
        ]
    }
}
