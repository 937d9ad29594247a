import GraphDocuments

extension ImportSource {
    /// Reads the document up to the last of some records, and returns these.
    ///
    /// - Parameter numbers: The positions of the records among those of the document, from 0.
    /// Throws `DocumentError`.
    func records(
        _ numbers: Set<Int>, model: ImportModel, reading: ReadingOptions
    ) throws -> [(number: Int, record: PlacedRecord)] {
        var found: [(number: Int, record: PlacedRecord)] = []
        var reader = try reader(schema: model.schema, options: reading)
        var number = 0
        while found.count < numbers.count, let record = try reader.nextPlaced() {
            if numbers.contains(number) { found.append((number, record)) }
            number += 1
        }
        return found
    }
}
