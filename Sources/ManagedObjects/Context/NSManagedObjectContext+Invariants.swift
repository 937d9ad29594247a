#if DEBUG
    import Foundation

    extension NSManagedObjectContext {
        /// Stops the program if the context's internal state is inconsistent. Cost: a step for every object.
        final func checkInvariants() {
            let broken = brokenInvariants()
            precondition(broken.isEmpty, "The state of a context is inconsistent:\n" + broken.joined(separator: "\n"))
        }

        /// The inconsistencies of the context's internal state; empty when there are none. Cost: a step for every
        /// object.
        final func brokenInvariants() -> [String] {
            var broken: [String] = []
            let objects = registry.objects
            let listed = Set(tracker.objects.map(ObjectIdentifier.init))
            var counts = ChangeTracker.Counts()
            for object in objects {
                let name = object.objectID.uriRepresentation().absoluteString
                if registry.object(for: object.key) !== object { broken.append("\(name) is not registered by its key") }
                if object.context !== self { broken.append("\(name) is registered but belongs to another context") }
                if object.hasChanges, !object.flags.contains(.listed) { broken.append("\(name) has changed unlisted") }
                if !object.flags.isDisjoint(with: [.listed, .unlisted]), !listed.contains(ObjectIdentifier(object)) {
                    broken.append("\(name) is not in the list of changed objects")
                }
                counts.add(1, to: object.flags.change)
                broken += brokenInverses(of: object).map { "\(name): \($0)" }
            }
            if counts != tracker.counts { broken.append("\(counts) are the changes, \(tracker.counts) counted") }
            return broken
        }

        private func brokenInverses(of object: NSManagedObject) -> [String] {
            guard !object.flags.contains(.deleted), !object.isFaultInternally else { return [] }
            var broken: [String] = []
            for (index, field) in object.layout.toMany.enumerated() where field.relationship.inverseRelationship != nil
            {
                for member in object.members(at: index)
                where !refers(member, to: object, by: object.layout.links.toMany[index]) {
                    broken.append("\(field.name) contains \(member.objectID), which does not refer back")
                }
            }
            for (slot, description) in object.layout.slots.enumerated() where description.kind == .toOne {
                guard let relationship = description.property as? NSRelationshipDescription,
                    relationship.inverseRelationship != nil, let target = object.relatedObject(slot: slot)
                else { continue }
                if !refers(target, to: object, by: object.layout.links.slots[slot]) {
                    broken.append("\(relationship.name) refers to \(target.objectID), which does not refer back")
                }
            }
            return broken
        }

        private func refers(
            _ object: NSManagedObject, to other: NSManagedObject, by link: RelationshipLinks.Link
        ) -> Bool {
            switch link.inverse {
            case .none: true
            case .slot(let slot): object.relatedObject(slot: slot) === other
            case .toMany(let index): object.memberKeys(at: index).contains(other.key)
            }
        }
    }
#endif
