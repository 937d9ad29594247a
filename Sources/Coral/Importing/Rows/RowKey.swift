#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    @_spi(Stores) import ManagedObjects

    /// The identity rule of an entity and its subentities in terms of slots, computed once.
    final class RowKey {
        enum Part {
            case attribute(RowAttribute)
            case reference(RowKey, slot: Int)

            var slot: Int {
                switch self {
                case .attribute(let attribute): attribute.slot
                case .reference(_, let slot): slot
                }
            }
        }

        /// Distinguishes its digests from those of other keys.
        let number: Int
        let table: EntityRows
        let parts: [Part]
        let slots: [Int]
        /// The number of values in a reference.
        let valueCount: Int
        /// The keys in references that are not looked up yet.
        let wanted: RowBatch
        /// The number of lookups by this key.
        var lookupCount = 0
        /// Whether all keys of the table are loaded, so that no lookup is needed.
        var isLoaded = false
        /// Keys that several rows have; complete once `isLoaded`.
        var ambiguous: Set<KeyDigest> = []

        init(number: Int, table: EntityRows, parts: [Part]) {
            self.number = number
            self.table = table
            self.parts = parts
            slots = parts.map(\.slot)
            valueCount = parts.reduce(0) { count, part in
                if case .reference(let key, _) = part { count + key.valueCount } else { count + 1 }
            }
            wanted = table.makeBatch()
        }
    }

    extension RowKey {
        /// The reason for objects if several rows have a key.
        var ambiguity: ObjectsReason {
            let name = table.entity.name ?? ""
            return ObjectsReason(.contents, "Several stored objects of \(name) have the same key.", entity: name)
        }

        /// The reason for objects if several records have a key.
        var repetition: ObjectsReason {
            let name = table.entity.name ?? ""
            return ObjectsReason(.document, "Several records of \(name) have the same key.", entity: name)
        }
    }

#endif
