import Coral

/// What must be true of every graph, whatever the model: to be asked of one's own models, with graphs from
/// `GraphGenerator`.
///
///     for seed in 0..<100 {
///         var generator = GraphGenerator(seed: seed)
///         let objects = try generator.objects(40, in: context)
///         let failures = try GraphProperties.failures(ofCopying: objects, by: GraphCopier(rules: .everything))
///         #expect(failures.isEmpty, "seed \(seed): \(failures.joined(separator: "\n"))")
///     }
///
/// Each method gives sentences about what is not as it must be; none where all is well. Call them where the objects'
/// context may be used.
public enum GraphProperties {
    /// Copies objects and looks whether the copies are like the originals, have nothing in common with them, and have left
    /// them as they were. Relationships to objects that were not copied must lead where the originals' lead.
    ///
    /// Throws what the copier throws.
    ///
    /// - Parameters:
    ///   - objects: The objects to copy.
    ///   - copier: Copies them.
    ///   - changed: Attributes that the rules change on purpose, by name.
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
            let wanted = ObjectContents(object, excluding: changed) { copies[$0].map(uri) ?? uri($0) }
            let actual = ObjectContents(copy, excluding: changed)
            failures += actual.differences(from: wanted).map { "The copy of \(uri(object)) differs in \($0)." }
            failures += ObjectContents(object).differences(from: contents)
                .map { "The original \(uri(object)) has changed in \($0)." }
            if object.isUpdated, !wereUpdated.contains(object) {
                failures.append("The original \(uri(object)) counts as changed.")
            }
        }
        return failures
    }

    /// Refers to objects, sends the references through an archive and through JSON, and looks whether they lead to the very
    /// objects again. The objects must be saved.
    ///
    /// Throws what making references throws.
    public static func failures(ofReferencing objects: [NSManagedObject]) throws -> [String] {
        guard let context = objects.first?.managedObjectContext else { return [] }
        var failures: [String] = []
        let references = try ManagedObjectReference.references(to: objects)
        let sent = try JSONDecoder().decode(
            [ManagedObjectReference].self, from: JSONEncoder().encode(references))
        let archived = try context.objects(fromReferences: objects.archivedReferences())
        for (place, object) in objects.enumerated() {
            let name = object.objectID.uriRepresentation().absoluteString
            if references[place].resolve(in: context).object !== object {
                failures.append("The reference to \(name) leads elsewhere.")
            }
            if sent[place] != references[place] { failures.append("The reference to \(name) differs after JSON.") }
            if archived.resolutions[place].object !== object {
                failures.append("The archived reference to \(name) leads elsewhere.")
            }
        }
        return failures
    }

    /// Writes objects to a document, imports it into another context, and looks whether that gives the same graph: the same
    /// values, related alike.
    ///
    /// Throws what exporting and importing throw.
    ///
    /// - Parameters:
    ///   - objects: The objects to send.
    ///   - context: Where the objects are imported: a context over an empty store, of the same model.
    ///   - format: The format of the document.
    public static func failures(
        ofRoundTrip objects: [NSManagedObject], into context: NSManagedObjectContext, format: GraphFormat = .json
    ) throws -> [String] {
        let document = try GraphExporter(format: format, shape: .everything).data(objects)
        let wanted = GraphColours(objects)
        return try context.performAndWait {
            let imported = try GraphImporter(into: context).plan(document, as: NSManagedObject.self).apply()
            return GraphIsomorphism(wanted, GraphColours(imported)).differences
        }
    }
}
