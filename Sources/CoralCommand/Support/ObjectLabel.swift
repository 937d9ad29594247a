import ArgumentParser
import Coral
import CoralTools

/// What names an object where its values are not shown: in lists, links and sequences.
enum ObjectLabel {
    /// The label of an object; nil without one.
    static func text(of object: NSManagedObject) -> String? {
        object.managedObjectContext.flatMap { LabelAttribute.name(of: object.entity, in: $0) }
            .flatMap { object.value(forKey: $0) as? String }.flatMap(PageNameCollector.name)
    }
}

/// `--label`: the attributes whose values name the objects.
struct LabelOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The attribute whose text names the objects of an entity and its subentities. May be repeated.",
            discussion:
                "Default: coral.label in the entity's user info, or an attribute that reads as a name or a text, and differs between objects.",
            valueName: "Entity.attribute"),
        completion: Completion.properties)
    var label: [String] = []

    /// Notes the attributes in the user info of the entities, where all outputs look for them.
    ///
    /// - Parameter model: A model that no coordinator uses yet.
    /// Throws `CommandError` for an attribute that does not exist, or has no text.
    func apply(to model: NSManagedObjectModel) throws {
        for path in label {
            let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CommandError("--label \(path) is not of the form Entity.attribute.") }
            let entity = try OpenStore.entity(named: parts[0], in: model)
            let texts = entity.attributesByName.filter { $0.value.attributeType == .stringAttributeType }
            guard texts[parts[1]] != nil else {
                let reason =
                    entity.propertiesByName[parts[1]] == nil
                    ? "There is no attribute \"\(path)\"." : "\(path) is not an attribute with text."
                throw CommandError(reason + NameSuggestion.advice(for: parts[1], in: texts.keys.sorted()))
            }
            entity.userInfo = (entity.userInfo ?? [:]).merging([LabelAttribute.userInfoKey: parts[1]]) { $1 }
        }
    }
}
