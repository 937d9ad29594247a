import CoreData
import GraphDocuments

// The values of attributes.

extension ImportPerformer {
    func setValues(of node: ImportNode) {
        guard let object = node.object else { return }
        callWillImport(node, object)
        var changed: [AttributeChange] = []
        // Fast path: nearly every object has one record, which needs no merged list.
        if node.records.count == 1, let record = node.records.first, record.details?.defaults.isEmpty ?? true {
            let attributes = record.record.attributes
            for index in attributes.indices {
                guard let attribute = node.entity.attributes[attributes[index].name] else { continue }
                setValue(attributes[index].value, of: attribute, of: object, node, record, &changed)
            }
        } else {
            for (attribute, given, record) in givenValues(of: node) {
                setValue(given, of: attribute, of: object, node, record, &changed)
            }
        }
        if node.matchedID == nil {
            changes.inserts.add(ImportChange(subject: node.subject, attributes: changed, isInsert: true))
        } else if !changed.isEmpty {
            changes.updates.add(ImportChange(subject: node.subject, attributes: changed, isInsert: false))
        }
    }

    private func setValue(
        _ given: GraphValue, of attribute: AttributePlan, of object: NSManagedObject, _ node: ImportNode,
        _ record: PlacedRecord, _ changed: inout [AttributeChange]
    ) {
        guard !attribute.isDerived else { return }
        if case .file(let file) = given, file.isMissing {
            return applyMissingFilePolicy(file.path, of: attribute, of: object, node, record)
        }
        guard var value = conversion.convert(given, to: attribute) else {
            return applyMismatchPolicy(given, of: attribute, node, at: record.place(of: attribute.name))
        }
        if let hook = hook(options.hooks.value, node.entity, attribute.name) {
            guard let replaced = hook(value, object) else { return }
            value = replaced
        }
        do {
            if node.matchedID == nil {
                if !value.isNull, changes.inserts.keepsNext {
                    changed.append(.init(name: attribute.name, old: nil, new: value))
                }
                // The current value, which may be a default, is read only if null may have to replace it.
                if try !value.isNull || !attribute.value(of: object).isNull {
                    object.setValue(try attribute.object(for: value, folder: options.folder), forKey: attribute.name)
                }
                return
            }
            let old = try attribute.value(of: object)
            if !attribute.codec.isSame(old, value, by: equality) {
                object.setValue(try attribute.object(for: value, folder: options.folder), forKey: attribute.name)
                changed.append(.init(name: attribute.name, old: old, new: value))
            }
        } catch {
            let message = (error as? ImportError)?.message ?? "\(error)"
            refuse(
                node, (error as? ImportError)?.code ?? .wrongValue, message, at: record.place(of: attribute.name),
                property: attribute.name)
        }
    }

    /// Applies the policy to a value that cannot be converted to its declared type.
    private func applyMismatchPolicy(
        _ value: GraphValue, of attribute: AttributePlan, _ node: ImportNode, at place: DocumentPlace
    ) {
        let message =
            "\(ValueText.text(value)) cannot become \(node.entity.name).\(attribute.name), "
            + "which is of type \(attribute.type.type.name)."
        switch options.mismatchedValues {
        case .convert, .fail: refuse(node, .wrongValue, message, at: place, property: attribute.name)
        case .record:
            changes.conflicts.add(
                ImportConflict(
                    subject: node.subject(at: place), property: attribute.name, value: value, message: message))
        }
    }

    /// Applies the missing-file policy to a value whose file did not exist. An object's existing value is never
    /// cleared.
    private func applyMissingFilePolicy(
        _ name: String, of attribute: AttributePlan, of object: NSManagedObject, _ node: ImportNode,
        _ record: PlacedRecord
    ) {
        guard options.missingFiles != .fail else {
            return refuse(
                node, .missingFile,
                "The file of \(node.entity.name).\(attribute.name) did not exist when the document was written (\(name)).",
                at: record.place(of: attribute.name), property: attribute.name)
        }
        if options.missingFiles == .keep, options.restoresMissingFiles,
            (try? attribute.value(of: object))?.isNull == true
        {
            _ = Engine.current.setMissingFile(name, of: object, forKey: attribute.name)
        }
        changes.missingFiles.add(
            UnresolvableReference(.fileOfDocument, node.subject.label, attribute.name, to: name))
    }

    /// Records that two records of one object state different values of an attribute.
    private func noteContradiction(
        of earlier: GraphValue, _ later: GraphValue, _ attribute: AttributePlan, _ node: ImportNode,
        _ record: PlacedRecord
    ) {
        guard earlier != later, let one = conversion.convert(earlier, to: attribute),
            let other = conversion.convert(later, to: attribute),
            !attribute.codec.isSame(one, other, by: equality)
        else { return }
        changes.conflicts.add(
            ImportConflict(
                subject: node.subject(at: record.place(of: attribute.name)), property: attribute.name,
                message: "Records of one \(node.entity.name) have different values of \(attribute.name): "
                    + "\(ValueText.text(one)) and \(ValueText.text(other)); the last one is used."))
    }

    /// The values that records and references state for a node: the last of each attribute, in the order of first mention.
    private func givenValues(of node: ImportNode) -> [(AttributePlan, GraphValue, PlacedRecord)] {
        var positions: [String: Int] = [:]
        var found: [(AttributePlan, GraphValue, PlacedRecord)] = []
        for record in node.records where !record.record.isDeleted {
            for given in record.record.attributes {
                guard let attribute = node.entity.attributes[given.name] else { continue }
                if let position = positions[attribute.name] {
                    noteContradiction(of: found[position].1, given.value, attribute, node, record)
                    found[position] = (attribute, given.value, record)
                } else {
                    positions[attribute.name] = found.count
                    found.append((attribute, given.value, record))
                }
            }
        }
        guard node.matchedID == nil else { return found }
        for record in node.records {
            for given in record.details?.defaults ?? [] {
                guard let attribute = node.entity.attributes[given.name], positions[attribute.name] == nil else {
                    continue
                }
                positions[attribute.name] = found.count
                found.append((attribute, given.value, record))
            }
        }
        return found
    }
}
