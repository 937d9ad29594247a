#if STORE_ENGINE

    import struct StoreTools.RowSalvage
    import struct StoreRescue.DeletedRow

    /// The output of `coral salvage --deleted`: the deleted objects of each entity, and where they were found.
    struct DeletedObjectReport: Encodable {
        struct Entity: Encodable {
            var entity: String
            /// The objects whose keys were found, and which the store does not have.
            var deletedCount = 0
            /// The rows without a key, which may be earlier states of objects that exist.
            var deletedOrChangedCount = 0
            /// The objects whose keys were found, and which may have been on a damaged page of the store.
            var deletedOrLostCount = 0
            /// The objects with a value that was overwritten.
            var incompleteCount = 0
            /// The number of rows by the place in which they were found.
            var places: [String: Int] = [:]
        }

        private(set) var entities: [Entity] = []
        /// The database that has the rows; nil if none was written.
        let database: String?
        /// The damage of the store, in sentences.
        let damage: [String]

        init(_ objects: [RowSalvage.DeletedObject], database: String?, damage: [String]) {
            (self.database, self.damage) = (database, damage)
            for (name, objects) in Dictionary(grouping: objects, by: \.entity).sorted(by: { $0.key < $1.key }) {
                var entity = Entity(entity: name)
                for object in objects {
                    switch object.row.certainty {
                    case .deleted: entity.deletedCount += 1
                    case .deletedOrChanged: entity.deletedOrChangedCount += 1
                    case .deletedOrLost: entity.deletedOrLostCount += 1
                    }
                    if !object.row.row.lost.isEmpty { entity.incompleteCount += 1 }
                    entity.places[object.row.place.noun, default: 0] += 1
                }
                entities.append(entity)
            }
        }

        var text: String { damage.map { $0 + "\n" }.joined() + objects }

        private var objects: String {
            guard !entities.isEmpty else {
                return "No deleted object can be read"
                    + (database.map { ". \($0) has no tables.\n" }
                        ?? ": its bytes are used again or were overwritten, or nothing was deleted.\n")
            }
            let lines = entities.map { entity in
                var parts: [String] = []
                if entity.deletedCount > 0 { parts.append("\(Quantity.grouped(entity.deletedCount)) deleted") }
                if entity.deletedOrChangedCount > 0 {
                    parts.append("\(Quantity.grouped(entity.deletedOrChangedCount)) deleted or changed")
                }
                if entity.deletedOrLostCount > 0 {
                    parts.append("\(Quantity.grouped(entity.deletedOrLostCount)) deleted or lost")
                }
                if entity.incompleteCount > 0 {
                    parts.append("\(Quantity.grouped(entity.incompleteCount)) of them with lost values")
                }
                let places = entity.places.sorted { $0.key < $1.key }.map {
                    "\(Quantity.grouped($0.value)) in \($0.key)"
                }
                return "\(entity.entity): \(parts.joined(separator: ", ")) (\(places.joined(separator: ", ")))\n"
            }
            var note =
                entities.contains { $0.deletedOrChangedCount > 0 }
                ? "Deleted or changed: the key is overwritten, and the row may be an earlier state of an object that exists.\n"
                : ""
            if entities.contains(where: { $0.deletedOrLostCount > 0 }) {
                note += "Deleted or lost: the object may have been on a damaged page, and need not have been deleted.\n"
            }
            let end = database.map { "Written to \($0).\n" } ?? "With --output they are written to a database.\n"
            return lines.joined() + note + end
        }
    }

    extension DeletedRow.Place {
        /// The kind of place, for a report.
        var noun: String {
            switch self {
            case .freeBlock: "free blocks"
            case .unusedBytes: "unused bytes"
            case .freePage: "free pages"
            case .replacedPage: "pages replaced by the log"
            case .logFrame: "earlier frames of the log"
            }
        }

        /// The place of a row on a page.
        func text(page: Int) -> String {
            switch self {
            case .freeBlock: "free block of page \(page)"
            case .unusedBytes: "unused bytes of page \(page)"
            case .freePage: "free page \(page)"
            case .replacedPage: "page \(page) of the file, before the log"
            case .logFrame(let frame): "frame \(frame) of the log, page \(page)"
            }
        }
    }

#endif
