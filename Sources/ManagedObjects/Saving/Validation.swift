import CoreDataErrors
import Foundation
import FoundationAdditions

/// Validates an object against its model before it is written.
///
/// Every property is checked, so that one save reports all errors: a single error as it is, several together as
/// `NSValidationMultipleErrorsError` with the list under `NSDetailedErrorsKey`.
struct Validation {
    private(set) var errors: [any Error] = []

    mutating func check(_ object: NSManagedObject) {
        let layout = object.layout
        for rule in layout.rules.slots {
            let value = object.slotValue(rule.slot)
            if rule.admits(value) { continue }
            let description = layout.slots[rule.slot]
            check(value, of: object, slot: description, name: description.name ?? "")
        }
        for slot in layout.transformableSlots {
            guard case .object(let box)? = object.values?[slot], let type = box.refusedType else { continue }
            add(
                NSManagedObjectValidationError, object, layout.slots[slot].name ?? "",
                "has a value that is not of the type \(type), and was not replaced, because what was assigned may be an empty value "
                    + "that was changed in place: set nil by setValue(_:forKey:) first")
        }
        for index in layout.rules.toMany {
            check(toMany: layout.toMany[index], at: index, of: object)
        }
    }

    /// Relationships of a deleted object with the rule *deny* that still have members.
    mutating func checkDeletion(of object: NSManagedObject) {
        for (index, field) in object.layout.toMany.enumerated()
        where field.relationship.deleteRule == .denyDeleteRule {
            let inverse = object.layout.links.toMany[index].inverse
            let remaining = object.members(at: index).filter { member in
                !member.isDeleted && Self.isMember(member, of: object, at: inverse)
            }
            if !remaining.isEmpty {
                add(
                    NSValidationRelationshipDeniedDeleteError, object, field.name,
                    "still has \(Self.objects(remaining.count))")
            }
        }
        for (slot, description) in object.layout.slots.enumerated() where description.kind == .toOne {
            guard let relationship = description.property as? NSRelationshipDescription, let name = description.name,
                relationship.deleteRule == .denyDeleteRule,
                let target = object.relatedObject(slot: slot), !target.isDeleted
            else { continue }
            add(NSValidationRelationshipDeniedDeleteError, object, name, "still refers to an object")
        }
    }

    /// Whether an object that is listed as a member of another refers to it. A member whose unsaved change cleared the
    /// reference does not, whatever the store contains; a member without such a change may have been read before it
    /// became one.
    private static func isMember(
        _ member: NSManagedObject, of owner: NSManagedObject, at inverse: RelationshipLinks.End
    ) -> Bool {
        if member.refers(to: owner.key, at: inverse) { return true }
        if member.hasChanges {
            if case .slot(let slot) = inverse { return !member.changedSlots().contains(slot) }
            return false
        }
        member.context?.readAgainUnlessChanged(member)
        return member.refers(to: owner.key, at: inverse)
    }

    mutating func check(_ value: Value, of object: NSManagedObject, slot: EntityLayout.Slot, name: String) {
        if value.isNull {
            let property: NSPropertyDescription? =
                slot.kind == .toOne ? slot.property as? NSRelationshipDescription : slot.property
            let isRequired = property?.isOptional == false
            if isRequired, slot.property as? NSDerivedAttributeDescription == nil {
                add(NSValidationMissingMandatoryPropertyError, object, name, "is required and has no value")
            }
            return
        }
        checkRange(value, of: object, slot: slot, name: name)
        checkPredicates(value, of: object, slot: slot, name: name)
    }

    private mutating func checkRange(
        _ value: Value, of object: NSManagedObject, slot: EntityLayout.Slot, name: String
    ) {
        switch (slot.kind, value) {
        case (.integer16, .integer(let number)) where Int16(exactly: number) == nil,
            (.integer32, .integer(let number)) where Int32(exactly: number) == nil:
            let code = number > 0 ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError
            add(code, object, name, "is \(number), which does not fit \(slot.kind.bits) bits", value: value, slot: slot)
        case (.double, .real(let number)) where number.isNaN, (.float, .real(let number)) where number.isNaN,
            (.date, .real(let number)) where number.isNaN:
            add(NSManagedObjectValidationError, object, name, "is not a number (NaN), which cannot be stored")
        default: break
        }
    }

    private mutating func checkPredicates(
        _ value: Value, of object: NSManagedObject, slot: EntityLayout.Slot, name: String
    ) {
        let predicates = slot.property.validationPredicates
        guard !predicates.isEmpty, let subject = value.object(kind: slot.kind) else { return }
        let warnings = slot.property.validationWarnings
        for (index, predicate) in predicates.enumerated() {
            do {
                if try predicate.evaluation(with: subject) { continue }
            } catch {
                let sentence = "cannot be validated by the rule \(predicate.predicateFormat): \(error)"
                let code = NSManagedObjectValidationError
                add(code, object, name, sentence, value: value, slot: slot, predicate: predicate)
                continue
            }
            let warning = index < warnings.count ? warnings[index] : nil
            let code = (warning as? NSNumber)?.intValue ?? NSManagedObjectValidationError
            let sentence = warning as? String ?? "does not satisfy \(predicate.predicateFormat)"
            add(code, object, name, sentence, value: value, slot: slot, predicate: predicate)
        }
    }

    private mutating func check(toMany field: EntityLayout.ToMany, at index: Int, of object: NSManagedObject) {
        let relationship = field.relationship
        let minimum = relationship.minCount
        let maximum = relationship.maxCount
        // A required relationship without a minimum may be empty: the Photos library of macOS has many such objects.
        let isRequired = !relationship.isOptional && minimum > 0
        guard minimum > 0 || maximum > 0 else { return }
        // Counting the members of an unchanged relationship would read the store for every saved object.
        guard object.isInserted || object.toManyState(at: index)?.isChanged == true else { return }
        let count = object.memberKeys(at: index).count
        if count == 0 {
            if isRequired {
                add(NSValidationMissingMandatoryPropertyError, object, field.name, "is required and is empty")
            }
        } else if count < minimum {
            add(
                NSValidationRelationshipLacksMinimumCountError, object, field.name,
                "has \(Self.objects(count)) and needs at least \(minimum)")
        } else if maximum > 0, count > maximum {
            add(
                NSValidationRelationshipExceedsMaximumCountError, object, field.name,
                "has \(Self.objects(count)) and may have at most \(maximum)")
        }
    }

    private static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }

    // MARK: - Errors

    mutating func add(_ error: any Error) {
        let bridged = error as NSError
        if bridged.code == NSValidationMultipleErrorsError,
            let details = bridged.userInfo[NSDetailedErrorsKey] as? [NSError]
        {
            errors += details as [any Error]
        } else {
            // The original error instead of the bridged one: outside Apple's platforms a bridged error cannot be cast
            // to the program's own type again.
            errors.append(error)
        }
    }

    private mutating func add(
        _ code: Int, _ object: NSManagedObject, _ name: String, _ sentence: String, value: Value = .null,
        slot: EntityLayout.Slot? = nil, predicate: NSPredicate? = nil
    ) {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey:
                "\(object.entity.name ?? "") \(object.objectID.uriRepresentation().absoluteString): \"\(name)\" \(sentence).",
            NSValidationObjectErrorKey: object,
            NSValidationKeyErrorKey: name,
        ]
        if let slot, let value = value.object(kind: slot.kind) { userInfo[NSValidationValueErrorKey] = value }
        if let predicate { userInfo[NSValidationPredicateErrorKey] = predicate }
        errors.append(NSError(domain: NSCocoaErrorDomain, code: code, userInfo: userInfo))
    }

    /// Throws the errors found, if any.
    func finish() throws {
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(errors.count) values are not valid. The first: \(first.localizedDescription)",
                NSDetailedErrorsKey: errors.map { $0 as NSError },
            ])
    }
}

extension EntityLayout.Slot.Kind {
    fileprivate var bits: Int { self == .integer16 ? 16 : 32 }
}

extension NSManagedObject {
    /// Validates one value for a property.
    final func validate(_ value: Any?, forKey key: String) throws {
        checkQueue()
        guard case .slot(let index)? = field(of: key), layout.slots[index].kind != .toOne else { return }
        let slot = layout.slots[index]
        let converted: Value
        do {
            converted = try Value(value, kind: slot.kind)
        } catch let error as UnacceptableValue {
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(entity.name ?? "").\(key) requires \(error.expected), not \(error.actual).",
                    NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: key,
                ])
        }
        var validation = Validation()
        validation.check(converted, of: self, slot: slot, name: key)
        try validation.finish()
    }
}

extension CocoaError {
    /// The validation predicate that failed.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
}
