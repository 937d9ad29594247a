import Foundation
import KeyedArchives
import PredicateLanguage

// Fetch requests and fetch indexes.

extension ModelSourceReader {
    func fetchRequestTemplate(_ element: SourceElement) throws -> ModelFetchRequestTemplate {
        var template = ModelFetchRequestTemplate(
            name: try required("name", element), fetchRequest: try fetchRequest(element))
        template.position = position(element)
        return template
    }

    func fetchRequest(_ element: SourceElement) throws -> ModelFetchRequest {
        var request = ModelFetchRequest(entityName: element["entity"])
        if let text = element["predicateString"], !text.isEmpty {
            request.predicate = try predicate(text, element)
        }
        request.fetchLimit = try integer("fetchLimit", element) ?? 0
        request.fetchBatchSize = try integer("fetchBatchSize", element) ?? 0
        if let number = try integer("resultType", element) {
            guard let type = ModelFetchRequest.ResultType(rawValue: number) else {
                throw error(.invalidValue, "The result type \(number) is unknown.", element)
            }
            request.resultType = type
        }
        request.includesSubentities = try optionalFlag("includeSubentities", element) ?? true
        request.includesPropertyValues = try optionalFlag("includePropertyValues", element) ?? true
        request.includesPendingChanges = try optionalFlag("includesPendingChanges", element) ?? true
        request.returnsObjectsAsFaults = try optionalFlag("returnObjectsAsFaults", element) ?? true
        request.returnsDistinctResults = try flag("returnDistinctResults", element)
        return request
    }

    func fetchIndex(_ element: SourceElement) throws -> ModelFetchIndex {
        var index = ModelFetchIndex(name: try required("name", element))
        index.position = position(element)
        let filter = element["partialIndexPredicate"] ?? element["predicateString"]
        index.partialIndexPredicate = try filter.map { try predicate($0, element) }
        index.elements = try element.children(named: "fetchIndexElement").map(fetchIndexElement)
        return index
    }

    private func fetchIndexElement(_ element: SourceElement) throws -> ModelFetchIndexElement {
        let target: ModelFetchIndexElement.Target
        if let property = element["property"] {
            target = .property(property)
        } else {
            let typeName = element["expressionType"]
            let type = typeName.map { SourceText.type(named: $0) } ?? .undefined
            guard let type else {
                let advice = SourceText.advice(forType: typeName ?? "")
                throw error(.invalidValue, "The attribute type '\(typeName ?? "")' is unknown.\(advice)", element)
            }
            target = .expression(try expression(try required("expression", element), element), type: type, name: nil)
        }
        let order = element["order"]?.lowercased() ?? "ascending"
        let collation = element["type"]?.lowercased() ?? "binary"
        guard ["ascending", "descending"].contains(order), ["binary", "rtree"].contains(collation) else {
            throw error(.invalidValue, "Indexes of type '\(collation)' and order '\(order)' are unknown.", element)
        }
        return ModelFetchIndexElement(
            target, collation: collation == "rtree" ? .rTree : .binary, isAscending: order == "ascending")
    }
}
