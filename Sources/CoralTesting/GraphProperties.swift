import Coral

/// Checks of properties that hold for every graph, whatever the model: for tests of your own models, with graphs from
/// `GraphGenerator`.
///
///     for seed in 0..<100 {
///         var generator = GraphGenerator(seed: seed)
///         let objects = try generator.objects(40, in: context)
///         let failures = try GraphProperties.failures(ofCopying: objects, by: GraphCopier(shape: .everything))
///         #expect(failures.isEmpty, "seed \(seed): \(failures.joined(separator: "\n"))")
///     }
///
/// Each method returns sentences about violations; none if there are none. Call them on the queue of the objects'
/// context.
public enum GraphProperties {
    /// Copies objects and checks that the copies equal the originals, share nothing with them, and have not changed
    /// them. Relationships to objects that were not copied must have the same destinations as the originals'. Attributes in
    /// uniqueness constraints may have other values, because a copy cannot have the same.
    ///
    /// Throws the errors of the copier.
    ///
    /// - Parameters:
    ///   - objects: The objects to copy.
    ///   - copier: The copier to check.
    ///   - changed: Attributes that the rules change intentionally, by name.
    public static func failures(
        ofCopying objects: [NSManagedObject], by copier: GraphCopier, changed: Set<String> = []
    ) throws -> [String] {
        let before = objects.map { ObjectContents($0) }
        let wereUpdated = objects.first?.managedObjectContext?.updatedObjects ?? []
        let copies = try copier.copy(objects)
        var failures: [String] = []
        func uri(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }
        let originals = Set(objects.map(ObjectIdentifier.init))
        for (object, contents) in zip(objects, before) {
            guard let copy = copies[object] else {
                failures.append("\(uri(object)) was not copied.")
                continue
            }
            if originals.contains(ObjectIdentifier(copy)) {
                failures.append("\(uri(object)) is an original and a copy.")
            }
            let different = changed.union(constrainedAttributes(of: object.entity))
            let wanted = ObjectContents(object, excluding: different) { copies[$0].map(uri) ?? uri($0) }
            let actual = ObjectContents(copy, excluding: different)
            failures += actual.differences(from: wanted).map { "The copy of \(uri(object)) differs in \($0)." }
            failures += ObjectContents(object).differences(from: contents)
                .map { "The original \(uri(object)) has changed in \($0)." }
            if object.isUpdated, !wereUpdated.contains(object) {
                failures.append("The original \(uri(object)) is marked as changed.")
            }
        }
        return failures
    }

    /// The attributes in the uniqueness constraints of an entity and of its superentities.
    private static func constrainedAttributes(of entity: NSEntityDescription) -> Set<String> {
        let constrained = sequence(first: entity, next: \.superentity).flatMap(\.uniquenessConstraints).joined()
        return Set(constrained.compactMap { $0 as? String ?? ($0 as? NSPropertyDescription)?.name })
            .intersection(entity.attributesByName.keys)
    }

    /// Creates references to objects, encodes them in an archive and as JSON, and checks that they resolve to the same
    /// objects. The objects must be saved.
    ///
    /// Throws the errors of creating references.
    public static func failures(ofReferencing objects: [NSManagedObject]) throws -> [String] {
        guard let context = objects.first?.managedObjectContext else { return [] }
        var failures: [String] = []
        let references = try ManagedObjectReference.references(to: objects)
        let sent = try JSONDecoder().decode(
            [ManagedObjectReference].self, from: JSONEncoder().encode(references))
        let archived = try context.objects(fromReferences: objects.archivedReferences())
        for (index, object) in objects.enumerated() {
            let name = object.objectID.uriRepresentation().absoluteString
            if (try? references[index].resolve(in: context).get()) !== object {
                failures.append("The reference to \(name) resolves to another object.")
            }
            if sent[index] != references[index] { failures.append("The reference to \(name) differs after JSON.") }
            if (try? archived.results[index].get()) !== object {
                failures.append("The archived reference to \(name) resolves to another object.")
            }
        }
        return failures
    }

    /// Writes objects to a document, imports it into another context, and checks that the graphs are equal: the same
    /// values and relationships.
    ///
    /// Throws the errors of exporting and importing.
    ///
    /// - Parameters:
    ///   - objects: The objects to export.
    ///   - context: Where the objects are imported: a context over an empty store, of the same model.
    ///   - format: The format of the document.
    public static func failures(
        ofRoundTrip objects: [NSManagedObject], into context: NSManagedObjectContext, format: GraphFormat = .json
    ) throws -> [String] {
        let document = try GraphExporter(format: format, shape: .everything).encoded(objects)
        let wanted = GraphColours(objects)
        return try context.performAndWait {
            let imported = try GraphImporter(into: context).plan(document, as: NSManagedObject.self).apply()
            return GraphIsomorphism(wanted, GraphColours(imported)).differences
        }
    }
}
