import Foundation
import SQLStores

/// Binds an entity's values to the columns of a statement.
struct ValueWriter {
    let schema: SQLSchema
    let externalData: ExternalData?
    /// The files that were created in the transaction. They are deleted if it fails.
    private(set) var filesMade: [String] = []

    init(schema: SQLSchema, externalData: ExternalData?) {
        self.schema = schema
        self.externalData = externalData
    }

    /// The column of a slot with everything that binding needs, computed once for all rows.
    struct Target {
        let slot: Int
        let hasStorageByte: Bool
        let hasCompanion: Bool
        /// Of transformable values. Unmanaged because targets are copied for every value; the layout retains it.
        private let transformable: Unmanaged<NSAttributeDescription>?
        var attribute: NSAttributeDescription? { transformable?.takeUnretainedValue() }

        init(slot: Int, of layout: EntityLayout, column: SQLColumn) {
            self.slot = slot
            hasStorageByte = column.hasStorageByte
            hasCompanion = column.companion != nil
            transformable =
                layout.kinds[slot] == .transformable ? layout.slots[slot].attribute.map(Unmanaged.passUnretained) : nil
        }
    }

    /// Binds a slot's value to its column, and the entity of a reference to the companion column. Returns the index of
    /// the next parameter.
    @inline(__always)
    mutating func bind(
        _ value: Value, to target: Target, of statement: some SQLBinding, at position: Int
    ) throws -> Int {
        switch value {
        case .null: statement.bindNull(at: position)
        case .integer(let number): statement.bind(number, at: position)
        case .real(let number): statement.bind(number, at: position)
        case .string(let text): statement.bind(text, at: position)
        case .data(let data): try bind(data, to: target, of: statement, at: position)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { statement.bind($0, at: position) }
        case .reference(let key): statement.bind(key.number, at: position)
        case .decimal(let number): statement.bind(number.nearestDouble, at: position)
        case .object(let box):
            switch box.value {
            case let url as URL: statement.bind(url.absoluteString, at: position)
            case let file as MissingFileValue where target.hasStorageByte:
                statement.bind(ExternalData.column(naming: file.name), at: position)
            default:
                guard let attribute = target.attribute else {
                    statement.bindNull(at: position)
                    break
                }
                let data = try TransformableCoding.encode(box, attribute: attribute)
                try bind(data, to: target, of: statement, at: position)
            }
        }
        guard target.hasCompanion else { return position + 1 }
        if case .reference(let key) = value, let number = schema.number(entityIndex: Int(key.entity)) {
            statement.bind(number, at: position + 1)
        } else {
            statement.bindNull(at: position + 1)
        }
        return position + 2
    }

    private mutating func bind(
        _ data: Data, to target: Target, of statement: some SQLBinding, at position: Int
    ) throws {
        guard target.hasStorageByte else {
            statement.bind(data, at: position)
            return
        }
        if let externalData, data.count >= ExternalData.threshold {
            let name = try externalData.write(data)
            filesMade.append(name)
            statement.bind(ExternalData.column(naming: name), at: position)
        } else {
            var marked = Data([ExternalData.Marker.inline])
            marked.append(data)
            statement.bind(marked, at: position)
        }
    }
}
